package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/host/prompt"
)

// session is a session that asks what a test wants.
type session struct {
	mu       sync.Mutex
	open     []prompt.Prompt
	answers  []prompt.Answer
	refuse   error
	closed   string
	now      time.Time
	attended atomic.Int32
}

func (s *session) Prompts() []prompt.Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.open)
}

func (s *session) Decide(a prompt.Answer) (agenttool.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return agenttool.Decision{}, s.refuse
	}
	s.answers = append(s.answers, a)
	s.open = slices.DeleteFunc(s.open, func(p prompt.Prompt) bool { return p.Decision.DecisionID == a.DecisionID })
	return agenttool.Decision{}, nil
}

func (s *session) Attend() func() {
	s.attended.Add(1)
	return func() { s.attended.Add(-1) }
}

// ask has the session ask about a command.
func (s *session) ask(id, command string) {
	input, _ := json.Marshal(map[string]string{"command": command})
	s.open = append(s.open, prompt.Prompt{
		Decision: agenttool.Decision{DecisionID: agenttool.DecisionID(id), Behavior: agenttool.Ask, Reason: &agenttool.DecisionReason{Type: "mode", Detail: "no rule allows it"},
			SuggestedUpdates: []agenttool.SuggestedUpdate{{Op: agenttool.OpAddRules, Behavior: agenttool.Allow, Rules: []string{"Shell(make)"}}}},
		Tool: "shell", Input: input, Facts: &agenttool.Facts{}, Dir: "/home/me/app", AskedAt: agenttool.Timestamp(s.now),
	})
}

// world is a page with its session, and a browser.
type world struct {
	*session
	t     *testing.T
	page  *Page
	token string
}

func newWorld(t *testing.T) *world {
	w := &world{session: &session{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, t: t}
	w.page = New(Options{
		Host: w, User: "me", Now: func() time.Time { return w.now }, Closed: func() string { return w.closed },
		Session: func() (s approve.Session) {
			s.ID, s.Workspace, s.Mode = "ses_1", "/home/me/app", "default"
			return s
		},
	})
	t.Cleanup(func() { w.page.Forget() })
	return w
}

// post sends a request as the page does. change, if any, makes it another one.
func (w *world) post(path string, body any, change ...func(r *http.Request)) (status int, result map[string]any) {
	w.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := httptest.NewRequest("POST", Path+path, strings.NewReader(string(encoded)))
	r.Host = "127.0.0.1:8722"
	r.Header.Set("Origin", "http://127.0.0.1:8722")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Test\x1b[2J/1")
	if w.token != "" {
		r.Header.Set(tokenHeader, w.token)
	}
	for _, c := range change {
		c(r)
	}
	answer := httptest.NewRecorder()
	w.page.ServeHTTP(answer, r)
	_ = json.Unmarshal(answer.Body.Bytes(), &result)
	return answer.Code, result
}

// pair pairs the browser.
func (w *world) pair() {
	w.t.Helper()
	code, _, err := w.page.Pair()
	if err != nil {
		w.t.Fatal(err)
	}
	status, said := w.post("/pair", map[string]string{"code": code})
	if status != 200 {
		w.t.Fatalf("pairing: %d %v", status, said)
	}
	w.token = said["token"].(string)
}

// look fetches the prompts.
func (w *world) look(have ...string) (list struct{ Prompts []sheet }) {
	w.t.Helper()
	status, said := w.post("/prompts", map[string]any{"have": have})
	encoded, err := json.Marshal(said)
	if err == nil {
		err = json.Unmarshal(encoded, &list)
	}
	if err != nil || status != 200 {
		w.t.Fatalf("%d %v %v", status, said, err)
	}
	return list
}

// reads are the numbers of the lines of a prompt that ask.
func (sh sheet) reads() (seen []int) {
	for i, l := range sh.Lines {
		if l.Asks {
			seen = append(seen, i)
		}
	}
	return seen
}

func TestPairing(t *testing.T) {
	w := newWorld(t)
	try := func(code string, want int) {
		t.Helper()
		if status, said := w.post("/pair", map[string]string{"code": code}); status != want {
			t.Errorf("code %q: %d, want %d: %v", code, status, want, said)
		}
	}
	try("", 403)
	try("2222-2222", 403)

	code, life, _ := w.page.Pair()
	if life != 5*time.Minute || !regexp.MustCompile(`^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$`).MatchString(code) {
		t.Errorf("the code is %s, for %v", code, life)
	}
	try(strings.ToLower(strings.ReplaceAll(code, "-", " ")), 200)
	try(code, 403) // a code counts once

	old, _, _ := w.page.Pair()
	code, _, _ = w.page.Pair()
	try(old, 403)
	w.now = w.now.Add(5*time.Minute - time.Second)
	try(code, 200)
	code, _, _ = w.page.Pair()
	w.now = w.now.Add(5 * time.Minute)
	try(code, 403)

	code, _, _ = w.page.Pair()
	for range 4 {
		try("2222-2222", 403)
	}
	try(code, 200) // the fifth try
	code, _, _ = w.page.Pair()
	for range 5 {
		try("2222-2222", 403)
	}
	try(code, 403) // five wrong ones end it
	code, _, _ = w.page.Pair()
	w.page.Forget()
	try(code, 403)

	w.closed = "no sandbox"
	if _, _, err := w.page.Pair(); err == nil {
		t.Error("a closed page pairs")
	}
}

func TestPairingsEnd(t *testing.T) {
	w := newWorld(t)
	var tokens []string
	for range maxBrowsers + 1 {
		w.pair()
		tokens = append(tokens, w.token)
	}
	paired := func(token string) bool {
		w.token = token
		status, _ := w.post("/prompts", struct{}{})
		return status == 200
	}
	if paired(tokens[0]) || !paired(tokens[1]) || !paired(tokens[maxBrowsers]) {
		t.Error("the oldest of too many pairings should end, and no other")
	}
	w.post("/forget", struct{}{})
	if paired(tokens[maxBrowsers]) || !paired(tokens[1]) {
		t.Error("a browser forgets itself alone")
	}
	if n := w.page.Forget(); n != maxBrowsers-1 || paired(tokens[1]) {
		t.Errorf("%d pairings ended", n)
	}
}

// TestStrangers: a paired browser answers, and every change to its request is refused.
func TestStrangers(t *testing.T) {
	set := func(name, value string) func(r *http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		name   string
		change func(r *http.Request)
		want   int
	}{
		{"the page", func(*http.Request) {}, 200},
		{"no token", func(r *http.Request) { r.Header.Del(tokenHeader) }, 401},
		{"another token", set(tokenHeader, strings.Repeat("A", 52)), 401},
		{"the token in a cookie", func(r *http.Request) {
			r.Header.Set("Cookie", tokenHeader+"="+r.Header.Get(tokenHeader))
			r.Header.Del(tokenHeader)
		}, 401},
		{"the token as that of a client", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+r.Header.Get(tokenHeader))
			r.Header.Del(tokenHeader)
		}, 401},
		{"no origin", func(r *http.Request) { r.Header.Del("Origin") }, 403},
		{"a foreign origin", set("Origin", "https://evil.example"), 403},
		{"an origin of another port", set("Origin", "http://127.0.0.1:5173"), 403},
		{"an origin of another scheme", set("Origin", "https://127.0.0.1:8722"), 403},
		{"an origin that hides", set("Origin", "null"), 403},
		{"two origins", func(r *http.Request) { r.Header.Add("Origin", "https://evil.example") }, 403},
		{"another host", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"a form", set("Content-Type", "application/x-www-form-urlencoded"), 415},
		{"text", set("Content-Type", "text/plain"), 415},
		{"GET", func(r *http.Request) { r.Method = "GET" }, 405},
		{"another path", func(r *http.Request) { r.URL.Path = Path + "/nothing" }, 404},
		{"no JSON", func(r *http.Request) { r.Body = http.NoBody }, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("p1", "make")
			w.pair()
			sh := w.look().Prompts[0]
			w.now = w.now.Add(time.Second)
			status, said := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "allow", Scope: "once", Seen: sh.reads()}, c.change)
			if status != c.want || len(w.answers) > 0 != (c.want == 200) {
				t.Errorf("status %d, want %d, %d answers: %v", status, c.want, len(w.answers), said)
			}
		})
	}
}

// TestAnswers: what an answer has to have to count, and how it is recorded.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration // since the browser had the prompt
		reply func(sh sheet) reply
		want  string // of the error; empty: it counts
		is    string
	}{
		{"once", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "once", Seen: sh.reads()} }, "", "allow once"},
		{"the session", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "session", Seen: sh.reads()} }, "", "allow session"},
		{"deny, unread", time.Second, func(sh sheet) reply { return reply{Behavior: "deny", Reason: " not now "} }, "", "deny  not now"},
		{"too quick", 299 * time.Millisecond, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "once", Seen: sh.reads()} }, "too quick", ""},
		{"unread", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "once"} }, "lines that ask", ""},
		{"not all read", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "once", Seen: sh.reads()[1:]} }, "lines that ask", ""},
		{"other lines read", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "once", Seen: []int{-1, 0, 99999}} }, "lines that ask", ""},
		{"another version", time.Second, func(sh sheet) reply { return reply{Version: "x", Behavior: "allow", Scope: "once", Seen: sh.reads()} }, "ended or changed", ""},
		{"another prompt", time.Second, func(sh sheet) reply { return reply{ID: "p2", Behavior: "allow", Scope: "once", Seen: sh.reads()} }, "ended or changed", ""},
		{"for the project", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "project", Seen: sh.reads()} }, "no answer that this page gives", ""},
		{"for the user", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Scope: "user", Seen: sh.reads()} }, "no answer that this page gives", ""},
		{"no scope", time.Second, func(sh sheet) reply { return reply{Behavior: "allow", Seen: sh.reads()} }, "no answer that this page gives", ""},
		{"deny for the session", time.Second, func(sh sheet) reply { return reply{Behavior: "deny", Scope: "session"} }, "no answer that this page gives", ""},
		{"ask", time.Second, func(sh sheet) reply { return reply{Behavior: "ask", Scope: "once", Seen: sh.reads()} }, "no answer that this page gives", ""},
		{"a long reason", time.Second, func(sh sheet) reply {
			return reply{Behavior: "deny", Reason: strings.Repeat("é", approve.MaxReason+1)}
		}, "too long", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("p1", "make\nrm -rf x\n\x1b[2J")
			w.pair()
			sh := w.look().Prompts[0]
			w.now = w.now.Add(c.after)
			r := c.reply(sh)
			if r.ID == "" {
				r.ID = "p1"
			}
			if r.Version == "" {
				r.Version = sh.Version
			}
			_, said := w.post("/answer", r)
			why, _ := said["error"].(string)
			is := ""
			for _, a := range w.answers {
				is += strings.TrimSpace(fmt.Sprint(a.Behavior, " ", a.Scope, " ", a.Feedback))
				if a.Channel.By.User != "me" || a.Channel.By.Client != "a paired browser (Test⟨ESC⟩[2J/1)" || !slices.Equal(a.Channel.Scopes, scopes) {
					t.Errorf("it is answered by %+v", a.Channel)
				}
			}
			if is != c.is || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("answered is %q, want %q; the error is %q", is, c.is, why)
			}
		})
	}
}

// TestNothingIsAllowedUnseen: of 60 echoes and a removal, every line has to be reported as read, whichever is missing.
func TestNothingIsAllowedUnseen(t *testing.T) {
	w := newWorld(t)
	w.ask("p1", strings.Repeat("echo step\n", 60)+"rm -rf /home/important"+strings.Repeat(" x", 400))
	w.pair()
	sh := w.look().Prompts[0]
	w.now = w.now.Add(time.Second)
	all := sh.reads()
	if len(all) < 65 {
		t.Fatalf("%d lines ask", len(all))
	}
	for i := range all {
		seen := slices.Delete(slices.Clone(all), i, i+1)
		if status, _ := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "allow", Scope: "once", Seen: seen}); status == 200 {
			t.Errorf("allowed without %q", sh.Lines[all[i]].Text)
		}
	}
	if status, said := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "allow", Scope: "once", Seen: all}); status != 200 || len(w.answers) != 1 {
		t.Errorf("%d %v", status, said)
	}
}

// TestOneBrowserForAnother: a browser that never had a prompt cannot answer it with the version that another had.
func TestOneBrowserForAnother(t *testing.T) {
	w := newWorld(t)
	w.ask("p1", "make")
	w.pair()
	sh := w.look().Prompts[0]
	w.pair()
	w.now = w.now.Add(time.Minute)
	if status, said := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "allow", Scope: "once", Seen: sh.reads()}); status == 200 {
		t.Errorf("it counts: %v", said)
	}
}

func TestClosed(t *testing.T) {
	w := newWorld(t)
	w.ask("p1", "make")
	w.pair()
	sh := w.look().Prompts[0]
	w.now = w.now.Add(time.Second)
	w.closed = "no sandbox"
	if _, said := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "deny"}); said["error"] != "no sandbox" || len(w.answers) > 0 {
		t.Errorf("%v, %d answers", said, len(w.answers))
	}
	w.closed, w.refuse = "", fmt.Errorf("%w: somebody was faster", prompt.ErrRefused)
	if _, said := w.post("/answer", reply{ID: "p1", Version: sh.Version, Behavior: "deny"}); said["error"] != "somebody was faster" {
		t.Errorf("%v", said)
	}
	w.refuse = errors.New("x")
}

// TestListIsBounded: lines go out once, long prompts and many prompts are cut, and no character acts.
func TestListIsBounded(t *testing.T) {
	w := newWorld(t)
	w.ask("p1", "echo \x1b[2J\u202e <script>alert(1)</script>")
	w.ask("p2", strings.Repeat("echo x\n", 2*maxLines))
	w.pair()
	list := w.look().Prompts
	text := ""
	for _, l := range list[0].Lines {
		text += l.Text + "\n"
	}
	if !strings.Contains(text, "| echo ⟨ESC⟩[2J⟨U+202E⟩ <script>alert(1)</script>") || list[0].Card == 0 || list[0].Rules[0] != "Shell(make)" {
		t.Errorf("the prompt is %s", text)
	}
	if !list[1].TooLong || len(list[1].Lines) > 200 {
		t.Errorf("a long prompt has %d lines", len(list[1].Lines))
	}
	w.now = w.now.Add(time.Second)
	if status, _ := w.post("/answer", reply{ID: "p2", Version: list[1].Version, Behavior: "allow", Scope: "once", Seen: list[1].reads()}); status == 200 {
		t.Error("a cut prompt is allowed")
	}
	if again := w.look(list[0].Version).Prompts; again[0].Lines != nil || again[1].Lines == nil {
		t.Error("lines that the page has are sent again, or others are not")
	}
	for i := range 3 * maxPrompts {
		w.ask(fmt.Sprint("q", i), "make")
	}
	if list := w.look().Prompts; len(list) != maxPrompts {
		t.Errorf("%d prompts", len(list))
	}
}

func TestPieces(t *testing.T) {
	text := strings.Repeat("é删x", 500)
	got := pieces(text)
	if strings.Join(got, "") != text || len(got) < 10 {
		t.Errorf("%d pieces", len(got))
	}
	for _, piece := range got {
		if len(piece) > maxPiece || !strings.Contains(text, piece) {
			t.Errorf("a piece %q", piece)
		}
	}
}

// TestAttendance: a browser counts as a user while it asks, and a while longer.
func TestAttendance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.pair()
		want := func(n int) {
			t.Helper()
			synctest.Wait()
			if got := int(w.attended.Load()); got != n {
				t.Errorf("%d attend, want %d", got, n)
			}
		}
		want(0)
		w.look()
		want(1)
		time.Sleep(attendance - time.Second)
		w.look()
		time.Sleep(attendance - time.Second)
		want(1)
		time.Sleep(2 * time.Second)
		want(0)
		w.look()
		want(1)
		w.page.Forget()
		want(0)
	})
}

// TestFile: the page is one file, runs nothing but its own script, and writes text as text.
func TestFile(t *testing.T) {
	answer := httptest.NewRecorder()
	w := newWorld(t)
	w.page.ServeHTTP(answer, httptest.NewRequest("GET", Path, nil))
	h := answer.Result().Header
	csp := h.Get("Content-Security-Policy")
	for _, tag := range []string{"script", "style"} {
		parts := strings.Split(answer.Body.String(), "<"+tag+">")
		if len(parts) != 2 {
			t.Fatalf("%d of <%s>", len(parts)-1, tag)
		}
		text, _, _ := strings.Cut(parts[1], "</"+tag+">")
		sum := sha256.Sum256([]byte(text))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(csp, want) {
			t.Errorf("the policy is %s, want %s in it", csp, want)
		}
	}
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'", "connect-src 'self'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if strings.Contains(csp, "unsafe") || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" || h.Get("Set-Cookie") != "" {
		t.Errorf("the headers are %v", h)
	}
	for _, never := range []string{`\son[a-z]+=`, `innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|setAttribute`, `https?://`, `\ssrc=`, `\shref=`, `javascript:`, `<link|<iframe|<img`} {
		if found := regexp.MustCompile(never).FindString(answer.Body.String()); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
}
