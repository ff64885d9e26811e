package plain

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// talk is a conversation with a session that takes every answer, or none.
type talk struct {
	t       *testing.T
	talk    *Talk
	out     strings.Builder
	answers []approve.Answer
	codes   string
	tried   []string
	looked  []string
}

func newTalk(t *testing.T, asJSON bool) *talk {
	k := &talk{t: t}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	k.talk = New(Options{
		Out: &k.out, JSON: asJSON, Now: func() time.Time { return now },
		Send: func(a approve.Answer) { k.answers = append(k.answers, a) },
		Code: func(session, code string) { k.codes += session + "=" + code + " " },
		Look: func(sessions []string) { k.looked = sessions },
		Try:  func(it *approve.Item, rule string) { k.tried = append(k.tried, fmt.Sprint(it.Number, " ", rule)) },
	})
	return k
}

func (k *talk) open(approvals string) {
	k.t.Helper()
	var s approve.Session
	if err := json.Unmarshal([]byte(`{"session_id":"ses_1","workspace":"/w","approvals":`+approvals+`}`), &s); err != nil {
		k.t.Fatal(err)
	}
	k.talk.Event(approve.Opened{Session: s})
}

func (k *talk) ask(id, members string) {
	k.t.Helper()
	p, err := approve.ParsePrompt(json.RawMessage(`{"decision":{"decision_id":"` + id + `","expires_at":"2026-01-02T03:05:05Z","reason":{"type":"mode","detail":"it writes"},
		"suggested_updates":[{"behavior":"allow","rules":["Shell(make *)"]},{"behavior":"allow","rules":["Shell(make)"]}]},
		"suggested_grants":["host:a.example","host:b.example"],"tool":"shell","input":{"command":"make","timeout_ms":1}` + members + `}`))
	if err != nil {
		k.t.Fatal(err)
	}
	k.talk.Event(approve.Asked{Session: "ses_1", Prompt: p})
}

const mayAll = `{"may_answer":true,"scopes":["once","session","project","user"]}`

func TestLines(t *testing.T) {
	for _, c := range []struct{ line, answer, says string }{
		{"1 once", `{"decision_id":"p1","behavior":"allow","scope":"once"}`, ""},
		{"  #1   ONCE  ", `{"decision_id":"p1","behavior":"allow","scope":"once"}`, ""},
		{"1 once g2", `{"decision_id":"p1","behavior":"allow","scope":"once","grants":["host:b.example"]}`, ""},
		{"1 session", `{"decision_id":"p1","behavior":"allow","scope":"session","accept_updates":[0]}`, ""},
		{"1 project r2 g1", `{"decision_id":"p1","behavior":"allow","scope":"project","grants":["host:a.example"],"accept_updates":[1]}`, ""},
		{"1 user r1", `{"decision_id":"p1","behavior":"allow","scope":"user","accept_updates":[0]}`, ""},
		{"1 deny", `{"decision_id":"p1","behavior":"deny"}`, ""},
		{"1 deny because it is production", `{"decision_id":"p1","behavior":"deny","feedback":"because it is production"}`, ""},
		{`1 edit {"command":"make -n"}`, `{"decision_id":"p1","behavior":"allow","scope":"once","updated_input":{"command":"make -n"}}`, "+  \"command\": \"make -n\""},
		{`1 edit {"command":"make -n","timeout_ms":1}`, `{"decision_id":"p1","behavior":"allow","scope":"once","updated_input":{"command":"make -n","timeout_ms":1}}`, "+make -n"},
		{`1 edit {"command":"make","timeout_ms":1}`, "", "error: prompt 1: nothing was changed"},
		{`1 edit {"command"`, "", "error: prompt 1: line 1"},
		{"1", "", `"" is no answer`},
		{"1 yes", "", `"yes" is no answer`},
		{"1 once r1", "", "none of its suggestions"},
		{"1 session r3", "", "none of its suggestions"},
		{"1 once g0", "", "none of its suggestions"},
		{"2 once", "", "there is no prompt 2"},
		{"once", "", `"once" is not known`},
		{"y", "", `"y" is not known`},
		{"\x1b[200~1 once\x1b[201~", "", "was pasted"},
		{"1 once\x1b[201~", "", "was pasted"},
		{"1 \x7fonce", "", "control characters"},
		{"list", "", "prompt 1 waits: shell: make"},
		{"show 1", "", "| make"},
		{"show x", "", "show takes the number"},
		{"help", "", "allow prompt N this once"},
		{"1 code A", "", "wants no code"},
		{"", "", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			k := newTalk(t, false)
			k.open(mayAll)
			k.ask("p1", "")
			k.out.Reset()
			if k.talk.Line(c.line) {
				t.Error("it ended")
			}
			k.sent(c.answer)
			if !strings.Contains(k.out.String(), c.says) {
				t.Errorf("it said %q, want %q", k.out.String(), c.says)
			}
		})
	}
}

// TestLive: the activity is printed once, on request.
func TestLive(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		k := newTalk(t, asJSON)
		k.open(mayAll)
		k.ask("p1", "")
		k.talk.Line("live")
		if fmt.Sprint(k.looked) != "[ses_1]" {
			t.Errorf("asked are %v", k.looked)
		}
		var a approve.Activity
		if err := json.Unmarshal([]byte(`{"denied":[{"tool":"shell","subject":"rm \u001b[2J","why":"a rule"}]}`), &a); err != nil {
			t.Fatal(err)
		}
		k.out.Reset()
		k.talk.Event(Looked{[]approve.Activity{a}})
		for _, want := range []string{"#1 shell make", "nothing", "a rule"} {
			if !strings.Contains(k.out.String(), want) {
				t.Errorf("it said %q, want %q", k.out.String(), want)
			}
		}
		if strings.Contains(k.out.String(), "\x1b") {
			t.Errorf("it said %q", k.out.String())
		}
	}
}

// TestOwnRule: a rule is tried first, and kept by the next answer if the session took it.
func TestOwnRule(t *testing.T) {
	var covers, nothing approve.Trial
	if err := json.Unmarshal([]byte(`{"parts":[{"what":"make","covered":true},{"what":"rm x","covered":false}],"still":"it deletes","calls":["shell: make a"]}`), &covers); err != nil {
		t.Fatal(err)
	}
	k := newTalk(t, false)
	k.open(mayAll)
	k.ask("p1", "")
	say := func(line, says string) {
		t.Helper()
		k.out.Reset()
		k.talk.Line(line)
		if !strings.Contains(k.out.String(), says) {
			t.Errorf("%s: it said %q, want %q", line, k.out.String(), says)
		}
	}
	say("1 session own", "no rule was tried yet")
	say("1 rule", "the widest that is suggested is Shell(make)")
	say("1 rule Shell(make *)", "")
	say("1 session own", "has not said yet")
	k.talk.Event(Tried{Number: 1, Rule: "Shell(mak *)", Outcome: covers})
	say("1 session own", "has not said yet")
	k.talk.Event(Tried{Number: 1, Rule: "Shell(make *)", Err: errors.New("rule \x1b: no tool")})
	say("1 session own", "no tool")
	k.talk.Event(Tried{Number: 1, Rule: "Shell(make *)", Outcome: nothing})
	say("1 session own", "covers nothing")
	say("1 rule Shell(make *)", "")
	k.out.Reset()
	k.talk.Event(Tried{Number: 1, Rule: "Shell(make *)", Outcome: covers})
	for _, want := range []string{"covers   make", "not      rm x", "CAUTION  it does not cover all", "it deletes", "before   shell: make a", "1 session own, 1 project own, 1 user own"} {
		if !strings.Contains(k.out.String(), want) {
			t.Errorf("it said %q, want %q", k.out.String(), want)
		}
	}
	say("\x1b[200~1 user own\x1b[201~", "was pasted")
	say("1 once own", "none of its suggestions")
	k.sent("")
	say("1 user own", "")
	k.sent(`{"decision_id":"p1","behavior":"allow","scope":"user","rules":["Shell(make *)"]}`)
	if got := strings.Join(k.tried, "; "); got != "1 Shell(make *); 1 Shell(make *)" {
		t.Errorf("tried was %s", got)
	}
}

// sent checks the answers.
func (k *talk) sent(want ...string) {
	k.t.Helper()
	got := ""
	for _, a := range k.answers {
		encoded, err := agenttool.Encode(a)
		if err != nil {
			k.t.Fatal(err)
		}
		got += string(encoded) + "\n"
	}
	if got != strings.TrimLeft(strings.Join(want, "\n")+"\n", "\n") {
		k.t.Errorf("answers %s, want %s; it said\n%s", got, want, k.out.String())
	}
}

func TestPasteOfSeveralLines(t *testing.T) {
	k := newTalk(t, false)
	k.open(mayAll)
	k.ask("p1", "")
	for _, line := range []string{"\x1b[200~1 once", "1 once", "1 once\x1b[201~"} {
		k.talk.Line(line)
	}
	k.sent()
	k.talk.Line("1 once")
	k.sent(`{"decision_id":"p1","behavior":"allow","scope":"once"}`)
}

func TestQuit(t *testing.T) {
	for _, line := range []string{"quit", "exit", "q", " QUIT "} {
		if !newTalk(t, false).talk.Line(line) {
			t.Errorf("%q does not end it", line)
		}
	}
}

func TestTalk(t *testing.T) {
	k := newTalk(t, false)
	k.open(`{"may_answer":true,"scopes":["once","session"]}`)
	k.talk.Event(approve.Complete{})
	k.says("session ses_1 in /w", "nothing is pending")
	k.ask("p1", "")
	k.says("prompt 1: shell asks: runs a command line that is not understood, time left 1:00", "why:     it writes", "  | make", "  r2  allow  Shell(make)", "  g1  host:a.example, for this call",
		"prompt 1, answers: 1 once, 1 session, 1 deny REASON, 1 edit JSON")
	k.talk.Line("1 user")
	k.says("error: prompt 1: this session takes no answers for the user")
	k.talk.Line("1 once")
	k.talk.Line("1 once")
	k.says("error: prompt 1: an answer is on its way")
	k.talk.Event(approve.Answered{Answer: k.answers[0], Err: errors.New("updated_input: bad")})
	k.says("prompt 1: the answer did not count: updated_input: bad")
	k.talk.Line("1 deny no")
	k.talk.Event(approve.Answered{Answer: k.answers[1]})
	k.says("prompt 1 has ended: you denied it: no")
	if k.talk.Answered() != 1 {
		t.Errorf("%d answers counted", k.talk.Answered())
	}
	k.talk.Line("1 once")
	k.says("error: prompt 1 has ended: you denied it: no")
	k.ask("p2", "")
	k.talk.Event(approve.Ended{Session: "ses_1", ID: "p2", How: "it expired"})
	k.says("prompt 2: shell asks", "prompt 2 has ended: it expired")
	k.ask("p3", "")
	k.ask("p4", `,"coalesced_with":"p3"`)
	k.says("prompt 3: shell asks", "prompt 3 is asked by 2 calls now")
	k.talk.Event(approve.Closed{Session: "ses_1", Why: "the session has ended"})
	k.says("session ses_1: the session has ended", "prompt 3 has ended: the session has ended")
}

// says checks that lines begin so, in that order, and forgets them.
func (k *talk) says(want ...string) {
	k.t.Helper()
	rest := "\n" + k.out.String()
	for _, w := range want {
		i := strings.Index(rest, "\n"+w)
		if i < 0 {
			k.t.Errorf("no line begins with %q in\n%s", w, k.out.String())
			return
		}
		rest = rest[i+1:]
	}
	k.out.Reset()
}

func TestReadOnlyAndCode(t *testing.T) {
	k := newTalk(t, false)
	k.open(`{"may_answer":false,"why":"no terminal"}`)
	k.ask("p1", "")
	k.says("session ses_1 in /w: its prompts cannot be answered from here: no terminal", "prompt 1, answers: none: it cannot be answered from here: no terminal")
	k.talk.Line("1 once")
	k.sent()
	k.open(`{"may_answer":false,"needs_code":true}`)
	k.talk.Line("1 once")
	k.says("error: prompt 1: it cannot", "error: prompt 1: its session wants a code first")
	k.talk.Line("1 code ABC")
	if k.codes != "ses_1=ABC " {
		t.Errorf("codes %q", k.codes)
	}
}

// TestLongPrompts checks that a long prompt is not printed whole unasked, and that this is said.
func TestLongPrompts(t *testing.T) {
	k := newTalk(t, false)
	k.open(mayAll)
	diff, err := json.Marshal(strings.Repeat("+x\n", 10_000))
	if err != nil {
		t.Fatal(err)
	}
	p, err := approve.ParsePrompt(json.RawMessage(`{"decision":{"decision_id":"p1","content_blocks":[{"type":"diff","diff":` + string(diff) + `}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	k.talk.Event(approve.Asked{Session: "ses_1", Prompt: p})
	if n := strings.Count(k.out.String(), "\n"); n > 120 || !strings.Contains(k.out.String(), " more lines: show 1 prints all") {
		t.Errorf("%d lines:\n%s", n, k.out.String())
	}
	k.talk.Line("show 1")
	if n := strings.Count(k.out.String(), "\n+x"); n < 10_000 {
		t.Errorf("show prints %d lines", n)
	}
}

func TestJSON(t *testing.T) {
	k := newTalk(t, true)
	k.open(mayAll)
	k.talk.Event(approve.Trouble{Text: "a \u202e b"})
	k.talk.Event(approve.Complete{})
	k.ask("p1", `,"dir":"/\u202e\u001b[2J😀"`)
	for _, line := range []string{"list", "help", "x", "1 edit {}", "show 1"} {
		k.talk.Line(line)
	}
	k.talk.Event(approve.Answered{Answer: k.answers[0]})
	k.talk.Event(approve.Closed{Session: "ses_1", Why: "gone"})
	var events []string
	for s := bufio.NewScanner(strings.NewReader(k.out.String())); s.Scan(); {
		var r struct {
			Event  string
			Prompt struct{ Dir string }
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		if r.Event == "prompt" && r.Prompt.Dir != "/\u202e\u001b[2J😀" {
			t.Errorf("dir %q", r.Prompt.Dir)
		}
		for _, c := range s.Text() {
			if c >= 0x7f || c < ' ' {
				t.Fatalf("%U is printed", c)
			}
		}
		events = append(events, r.Event)
	}
	want := "[session warning nothing_pending prompt waiting help error prompt ended session_closed]"
	if fmt.Sprint(events) != want {
		t.Errorf("events %v, want %v", events, want)
	}
}

// TestNothingActs checks that no member of a prompt or session is printed as a control character.
func TestNothingActs(t *testing.T) {
	const evil = "\x1b]0;t\a\u202e\r"
	encoded, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	e := string(encoded)
	k := newTalk(t, false)
	k.open(`{"may_answer":false,"why":` + e + `}`)
	k.ask("p1", `,"tool":`+e+`,"dir":`+e+`,"input":{"command":`+e+`},"suggested_grants":[`+e+`],"facts":{"hosts":[`+e+`]}`)
	k.talk.Event(approve.Trouble{Text: evil})
	for _, line := range []string{evil, "1 " + evil, "show 1", "list"} {
		k.talk.Line(line)
	}
	k.talk.Event(approve.Closed{Session: "ses_1", Why: evil})
	for _, r := range strings.ReplaceAll(k.out.String(), "\n", "") {
		if !visible.Shows(r) {
			t.Fatalf("%U is printed:\n%q", r, k.out.String())
		}
	}
}

// TestCutLinesArePrintedFirst checks that a command is allowed only when all its asking lines have been printed.
func TestCutLinesArePrintedFirst(t *testing.T) {
	k := newTalk(t, false)
	k.open(mayAll)
	k.ask("p1", `,"input":{"command":"`+strings.Repeat(`echo\n`, 200)+`rm -rf /"}`)
	for _, line := range []string{"1 once", "1 session", "1 edit {}"} {
		k.talk.Line(line)
		k.sent()
	}
	if text := k.out.String(); strings.Contains(text, "rm -rf") || !strings.Contains(text, "error: prompt 1: some lines that ask have not been printed: show 1") {
		t.Errorf("it said\n%s", text)
	}
	k.talk.Line("show 1")
	k.talk.Line("1 once")
	k.sent(`{"decision_id":"p1","behavior":"allow","scope":"once"}`)
}
