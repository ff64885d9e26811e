package screen

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
)

// run is a model with its messages, under the clock of a synctest bubble.
type run struct {
	t        *testing.T
	mu       sync.Mutex
	m        *Model
	answers  []approve.Answer
	refuse   error // of the next answers
	codes    []string
	tries    []string // rules that were tried
	activity string   // of the session, as JSON
	looks    int      // how often it was asked
	raw      string
	quit     bool
	over     bool
}

// in runs a test with a window of the given size, in a bubble.
func in(t *testing.T, width, height int, test func(r *run)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &run{t: t}
		r.m = New(Options{Answerer: r, Now: time.Now})
		r.do(r.m.Init())
		r.tell(tea.WindowSizeMsg{Width: width, Height: height})
		test(r)
		r.mu.Lock()
		r.over = true
		r.mu.Unlock()
		r.wait(5 * time.Second)
	})
}

func (r *run) Answer(a approve.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, a)
	return r.refuse
}

func (r *run) Code(session, code string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes = append(r.codes, code)
	return nil
}

// Mode takes a looser mode only with the code AB.
func (r *run) Mode(session, mode, code string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes = append(r.codes, mode+"="+code)
	if mode == "sandboxed" && code != "AB" {
		return errors.New("it takes the code that the session shows")
	}
	return nil
}

// Try knows two commands. A rule covers those that begin with its words.
func (r *run) Try(_ string, _ agenttool.DecisionID, rules []string) (t approve.Trial, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries = append(r.tries, strings.Join(rules, "; "))
	if r.refuse != nil {
		return t, r.refuse
	}
	said := map[string]any{"calls": []string{"shell: go vet ./..."}}
	var parts []map[string]any
	runs := true
	for _, what := range []string{"go test ./...", "rm -rf \x1b[2J/home/important"} {
		covered := false
		for _, rule := range rules {
			words, ok := strings.CutSuffix(strings.TrimPrefix(rule, "Shell("), ")")
			if !ok {
				return t, fmt.Errorf("rule %q: the closing parenthesis is missing", rule)
			}
			covered = covered || strings.HasPrefix(what, strings.TrimSuffix(words, " *"))
		}
		runs = runs && covered
		parts = append(parts, map[string]any{"what": what, "covered": covered})
	}
	if said["parts"], said["runs"] = parts, runs; !runs {
		said["still"] = "`rm -rf /home/important` deletes files"
	}
	encoded, err := json.Marshal(said)
	if err == nil {
		err = json.Unmarshal(encoded, &t)
	}
	return t, err
}

// Activity is the activity that the test set.
func (r *run) Activity(session string) (approve.Activity, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks++
	var a approve.Activity
	if r.activity == "" {
		return a, errors.New("it does not answer")
	}
	return a, json.Unmarshal([]byte(r.activity), &a)
}

// do runs a command as bubbletea does.
func (r *run) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				r.do(c)
			}
			return
		}
		r.deliver(msg)
	}()
}

func (r *run) deliver(msg tea.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch msg := msg.(type) {
	case tea.QuitMsg:
		r.quit = true
	case tea.RawMsg:
		r.raw += fmt.Sprint(msg.Msg)
	}
	if msg == nil || r.over {
		return
	}
	_, cmd := r.m.Update(msg)
	r.look()
	r.do(cmd)
}

// tell gives the model a message and waits until nothing moves.
func (r *run) tell(msgs ...tea.Msg) {
	for _, msg := range msgs {
		r.deliver(msg)
	}
	synctest.Wait()
}

func (r *run) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// keys presses keys, by their names, as a person does: with time to read before and between.
func (r *run) keys(names ...string) {
	for _, name := range names {
		r.wait(400 * time.Millisecond)
		r.tell(key(name))
	}
	r.wait(100 * time.Millisecond)
}

// reads shows all of the prompt that is to be seen before it is allowed.
func (r *run) reads() {
	r.wait(400 * time.Millisecond)
	for range 200 {
		if strings.Contains(r.text(), "y once") {
			return
		}
		r.keys("space")
	}
	r.t.Errorf("there is no end of the asking lines:\n%s", r.text())
}

// types types text quickly.
func (r *run) types(text string) {
	for _, c := range text {
		r.tell(key(string(c)))
	}
}

func key(name string) tea.KeyPressMsg {
	special := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: tea.KeySpace, Text: " "}, " ": {Code: tea.KeySpace, Text: " "},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "home": {Code: tea.KeyHome},
		"end": {Code: tea.KeyEnd}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "ctrl+s": {Code: 's', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
		"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	if k, ok := special[name]; ok {
		return tea.KeyPressMsg(k)
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// look checks what must hold of every screen.
func (r *run) look() {
	view := r.m.View()
	if r.m.width == 0 {
		return
	}
	rows := strings.Split(view.Content, "\n")
	if len(rows) > r.m.height {
		r.t.Errorf("%d rows on a screen of %d:\n%s", len(rows), r.m.height, ansi.Strip(view.Content))
	}
	for _, row := range rows {
		if w := ansi.StringWidthWc(row); w > r.m.width {
			r.t.Errorf("a row of %d columns on a screen of %d: %q", w, r.m.width, row)
		}
	}
}

// content is the screen as it is sent.
func (r *run) content() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m.View().Content
}

// text is the screen without looks.
func (r *run) text() string { return ansi.Strip(r.content()) }

func (r *run) sees(text string) {
	r.t.Helper()
	if !strings.Contains(r.text(), text) {
		r.t.Errorf("%q is not on the screen:\n%s", text, r.text())
	}
}

func (r *run) misses(text string) {
	r.t.Helper()
	if strings.Contains(r.text(), text) {
		r.t.Errorf("%q is on the screen:\n%s", text, r.text())
	}
}

// answered checks the answers so far, as they are sent.
func (r *run) answered(want ...string) {
	r.t.Helper()
	var got []string
	for _, a := range r.answers {
		encoded, err := json.Marshal(a)
		if err != nil {
			r.t.Fatal(err)
		}
		got = append(got, string(encoded))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("answers:\n%s\nwant:\n%s\nscreen:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), r.text())
	}
}

// session opens a session.
func (r *run) session(id, more string) {
	r.t.Helper()
	var s approve.Session
	text := fmt.Sprintf(`{"session_id":%q,"workspace":"/home/me/app","mode":"default","sandbox":{"level":"full"},
		"approvals":{"may_answer":true,"scopes":["once","session","project","user"]}%s}`, id, more)
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		r.t.Fatal(err)
	}
	r.tell(approve.Opened{Session: s})
}

// ask has a session ask about a shell command; more are further members of the prompt, which win.
func (r *run) ask(id, command, more string) {
	r.t.Helper()
	now := time.Now()
	prompt := map[string]any{
		"decision": map[string]any{"decision_id": id, "behavior": "ask", "expires_at": now.Add(10 * time.Minute).Format(time.RFC3339),
			"reason":            map[string]any{"type": "mode", "detail": "it is not proved to only read"},
			"suggested_updates": []any{map[string]any{"op": "add_rules", "destination": "session", "behavior": "allow", "rules": []string{"Shell(go test ./...)"}}}},
		"tool": "shell", "input": map[string]any{"command": command}, "dir": "/home/me/app",
		"sandbox": map[string]any{"level": "full", "profile": "workspace"}, "asked_at": now.Format(time.RFC3339),
	}
	var extra map[string]any
	if more != "" {
		if err := json.Unmarshal([]byte(more), &extra); err != nil {
			r.t.Fatal(err)
		}
	}
	for name, value := range extra {
		prompt[name] = value
	}
	raw, err := json.Marshal(prompt)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := approve.ParsePrompt(raw)
	if err != nil {
		r.t.Fatal(err)
	}
	r.tell(approve.Asked{Session: "ses_1", Prompt: p})
}
