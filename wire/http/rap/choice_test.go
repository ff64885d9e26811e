package rap

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
)

// answer posts what the person chose.
func (f *fixture) answer(q callback, selected any) int {
	f.t.Helper()
	status, _ := f.send(q.text("response_url"), fields{"id": q.text("id"), "selected": selected})
	return status
}

// unseen is how the result of a call begins that nobody denied.
const unseen = "Error: approval is needed"

// wrongly posts an answer that is no choice until it denies, and returns the status of the last one.
func (f *fixture) wrongly(q callback, body any) (status int) {
	f.t.Helper()
	for n := range maxWrong {
		var text string
		status, text = f.send(q.text("response_url"), body)
		if open := strings.Contains(text, "still open"); open != (n < maxWrong-1) {
			f.t.Errorf("answer %d: %q", n, text)
		}
	}
	return status
}

// TestChoiceAgain: an answer that is sent again is taken if it is the same, and told what counts if it is not. RAP-17.
func TestChoiceAgain(t *testing.T) {
	s := &Server{questions: questions{open: map[string]*choice{"x": {options: []option{{"Allow once", prompt.ScopeOnce}, {label: "Deny"}}}}}}
	bad := errors.New("bad")
	for i, c := range []struct {
		n       int
		wrong   error
		settles bool
		status  int // 0: taken
	}{{0, bad, false, 400}, {1, nil, true, 0}, {1, nil, false, 0}, {0, nil, false, 410}, {0, bad, false, 410}} {
		_, why, settles, err := s.questions.settle("x", c.n, c.wrong)
		status := 0
		if e, ok := errors.AsType[*refusal](err); ok {
			status = e.status
		}
		if settles != c.settles || status != c.status || why != "" || status == 410 && !strings.Contains(err.Error(), "Deny") {
			t.Errorf("%d: %v, %v, %q", i, settles, err, why)
		}
	}
	if !s.Knows(SecretPath+"/x") || s.Knows(SecretPath+"/y") || s.Knows("/x") || s.Knows(SecretPath+"/") {
		t.Error("another path is known")
	}
}

func testChoice(t *testing.T) {
	f := newFixture(t, set{})
	t.Run("the question", func(t *testing.T) {
		f.invoke("q", "write", fields{"call_id": "second", "arguments": fields{"path": "a\u202e\nb"}})
		q := f.runtime.of("user_choice", "q")
		choices, _ := q.fields["choices"].([]any)
		if len(choices) != 3 || choices[0] != "Allow once" || choices[1] != "Allow for this session" || choices[2] != "Deny" || q.fields["default"] != 2.0 {
			t.Errorf("choices %v, default %v", choices, q.fields["default"])
		}
		prompt := q.text("prompt")
		if q.text("group_id") != "g" || q.text("call_id") != "second" || !strings.HasPrefix(prompt, "write  │ ") || !strings.Contains(prompt, "Why you are asked: ") || !strings.Contains(prompt, "this session adds:\n  │ ") {
			t.Errorf("question %v", q.fields)
		}
		u, err := url.Parse(q.text("response_url"))
		if err != nil || u.Hostname() != "127.0.0.1" || !strings.HasPrefix(u.Path, "/rap/user_choice_response/") || len(u.Path) < 70 {
			t.Errorf("response_url %s", q.text("response_url"))
		}
		f.answer(q, 2)
		f.result("q")
	})
	for _, c := range []struct {
		name   string
		answer func(q callback) int
		status int
		text   string
	}{
		{"once", func(q callback) int { return f.answer(q, 0) }, 200, "ran write"},
		{"deny", func(q callback) int { return f.answer(q, 2) }, 200, "Error: "},
		{"index too large", func(q callback) int { return f.wrongly(q, fields{"id": q.text("id"), "selected": 3}) }, 400, unseen},
		{"index below", func(q callback) int { return f.wrongly(q, fields{"id": q.text("id"), "selected": -1}) }, 400, unseen},
		{"no number", func(q callback) int { return f.wrongly(q, fields{"id": q.text("id"), "selected": "0"}) }, 400, unseen},
		{"half a number", func(q callback) int { return f.wrongly(q, fields{"id": q.text("id"), "selected": 0.5}) }, 400, unseen},
		{"null", func(q callback) int { return f.wrongly(q, fields{"id": q.text("id"), "selected": nil}) }, 400, unseen},
		{"the id of another call", func(q callback) int { return f.wrongly(q, fields{"id": "other", "selected": 0}) }, 400, unseen},
		{"no JSON", func(q callback) int { return f.wrongly(q, []byte("yes")) }, 400, unseen},
		{"one that is corrected", func(q callback) int { f.answer(q, 7); return f.answer(q, 0) }, 200, "ran write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.invoke(c.name, "write")
			q := f.runtime.of("user_choice", c.name)
			if status := c.answer(q); status != c.status && c.status != 0 {
				t.Errorf("status %d", status)
			}
			if text := f.result(c.name).text("text"); !strings.HasPrefix(text, c.text) {
				t.Errorf("text %q", text)
			}
			f.idle()
			if status := f.answer(q, 0); status != http.StatusGone {
				t.Errorf("an answer after the end: %d", status)
			}
		})
	}
	t.Run("for the session", func(t *testing.T) {
		f.invoke("s1", "write")
		f.answer(f.runtime.of("user_choice", "s1"), 1)
		f.invoke("s2", "write")
		if a, b := f.result("s1").text("text"), f.result("s2").text("text"); a != "ran write" || b != "ran write" || f.runtime.count("user_choice", "s2") != 0 {
			t.Errorf("%q, %q", a, b)
		}
	})
}

// TestChoiceElsewhere: a prompt that somebody else answered, and one that the runtime does not take, end their calls.
func TestChoiceElsewhere(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("c1", "write")
	q := f.runtime.of("user_choice", "c1")
	if _, err := f.host.Decide(prompt.Answer{DecisionID: f.host.Prompts()[0].Decision.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	if text := f.result("c1").text("text"); text != "ran write" {
		t.Errorf("text %q", text)
	}
	f.answer(q, 2)
	f.runtime.mu.Lock()
	f.runtime.n = 0
	f.runtime.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusNotFound)
		}
	}
	f.runtime.mu.Unlock()
	f.invoke("c2", "write")
	if text := f.result("c2").text("text"); !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, "could not be asked") {
		t.Errorf("text %q", text)
	}
	f.idle()
}

// TestChoiceExpires: a question that nobody answers denies its call. One that was over before it could be sent is not sent.
func TestChoiceExpires(t *testing.T) {
	for timeout := 50 * time.Millisecond; ; timeout *= 4 {
		f := newFixture(t, set{asks: prompt.Approvals{Timeout: timeout}})
		f.invoke("c1", "write")
		if text := f.result("c1").text("text"); !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, "nobody answered") {
			t.Errorf("text %q", text)
		}
		f.idle()
		if f.runtime.count("user_choice", "c1") == 0 && timeout < ample {
			continue
		}
		if status := f.answer(f.runtime.of("user_choice", "c1"), 0); status != http.StatusGone {
			t.Errorf("an answer after that: %d", status)
		}
		return
	}
}

// TestChoiceTooWide: an answer for the session that cannot count is one for once, and the log says so.
func TestChoiceTooWide(t *testing.T) {
	f := newFixture(t, set{asks: prompt.Approvals{Widest: prompt.ScopeOnce}})
	for _, id := range []string{"c1", "c2"} {
		f.invoke(id, "write")
		f.answer(f.runtime.of("user_choice", id), 1)
		if text := f.result(id).text("text"); text != "ran write" {
			t.Errorf("%s: %q", id, text)
		}
	}
	if log := f.logged(); !strings.Contains(log, "call c1 does not count for the session") {
		t.Errorf("log %q", log)
	}
}

// shellPrompt is a question about a command.
func shellPrompt(command string, change func(*prompt.Prompt)) prompt.Prompt {
	input, _ := json.Marshal(map[string]any{"command": command, "cwd": "sub"})
	p := prompt.Prompt{
		Tool: "shell", Input: input, Dir: "/ws", Attempt: 2, Grants: []string{"host:example.com", "write:/x"}, Facts: &agenttool.Facts{Verdicts: agenttool.Verdicts{Destructive: agenttool.Yes}},
		Sandbox: &prompt.Sandbox{Profile: "workspace", Level: "full"},
		Decision: agenttool.Decision{
			Reason: &agenttool.DecisionReason{Detail: "no rule allows it", RuleRef: "user:3"}, SuggestedUpdates: []agenttool.SuggestedUpdate{{Rules: []string{"Shell(a)", "Shell(b)"}}},
		},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// TestQuestion: what a person sees holds all that they allow, and what is not shown cannot be allowed. RAP-17.
func TestQuestion(t *testing.T) {
	writes := func(diff string, partial bool) func(*prompt.Prompt) {
		return func(p *prompt.Prompt) {
			p.Input = json.RawMessage(`{"path":"a","content":"rm -rf ~\u0000"}`)
			p.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: diff, Partial: partial}}
		}
	}
	many := func(p *prompt.Prompt) { p.Grants = slices.Repeat([]string{"write:/" + strings.Repeat("x", 200)}, 100) }
	deny := "cannot be allowed here: look at it with toolhost approve"
	for _, c := range []struct {
		name    string
		prompt  prompt.Prompt
		choices int
		want    []string
		not     string
	}{
		{"all that there is", shellPrompt("echo \x1b[2J", nil), 3, []string{
			"shell  │ echo ⟨ESC⟩[2J\nWhy you are asked: no rule allows it\nSandbox: workspace (level full), in sub\n", "gives it:\n  │ host:example.com\n  │ write:/x\n",
			"Why you are asked: no rule allows it", "Rule: user:3", "it destroys something; it ran already", "adds:\n  │ Shell(a)\n  │ Shell(b)",
		}, "approve"},
		{"mixed alphabets", shellPrompt("echo p\u0430ypal", nil), 3, []string{"letters of several alphabets in"}, "approve"},
		{"a long command", shellPrompt("echo a; "+strings.Repeat("x", 100_000)+"; rm -rf ~", nil), 1, []string{"echo a; x", "rm -rf ~", "not shown here", deny}, "adds:"},
		{"many grants", shellPrompt("true", many), 1, []string{"[and more]", deny}, "adds:"},
		{"a diff", shellPrompt("", writes("+a\n-b", false)), 3, []string{"\n  │ +a\n  │ -b"}, "rm -rf"},
		{"a diff that is not all", shellPrompt("", writes("Binary files a and b differ", true)), 2, []string{"content: rm -rf ~⟨NUL⟩", "Not all of it"}, "adds:"},
		{"no rule", shellPrompt("true", func(p *prompt.Prompt) { p.Decision.SuggestedUpdates = nil }), 2, nil, "adds:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newQuestion(c.prompt)
			for _, want := range c.want {
				if !strings.Contains(q.text, want) {
					t.Errorf("%q is not in %s", want, q.text)
				}
			}
			if strings.Contains(q.text, c.not) || len(q.text) > prompt.MaxText || strings.ContainsRune(q.text, 0x1b) {
				t.Errorf("%d bytes, or %q in %s", len(q.text), c.not, q.text)
			}
			if len(q.options) != c.choices || q.options[c.choices-1].scope != "" {
				t.Errorf("options %v", q.options)
			}
		})
	}
}

// TestChoiceAlone: an answer counts for the question that the runtime showed, and not for others that ask the same.
func TestChoiceAlone(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("c1", "write", fields{"group_id": "g1"})
	f.invoke("c2", "write", fields{"group_id": "g2"})
	one, two := f.runtime.of("user_choice", "c1"), f.runtime.of("user_choice", "c2")
	f.answer(one, 0)
	f.result("c1")
	if open := f.host.Prompts(); len(open) != 1 || f.runtime.count("tool_result", "c2") != 0 {
		t.Errorf("%d questions are open", len(open))
	}
	f.answer(two, 2)
	if text := f.result("c2").text("text"); !strings.HasPrefix(text, "Error: a person") {
		t.Errorf("%q", text)
	}
}

// TestSecondAnswerIsGone: an answer to a question whose call has ended is refused with 410, one to an unknown path with 404.
func TestSecondAnswerIsGone(t *testing.T) {
	c := &call{}
	a := questions{open: map[string]*choice{"x": {call: c}}}
	a.forget(c)
	for id, want := range map[string]int{"x": 410, "y": 404} {
		if e, ok := errors.AsType[*refusal](a.refusal(id)); !ok || e.status != want {
			t.Errorf("%s: %v, want %d", id, a.refusal(id), want)
		}
	}
	for i := range 2 * maxPast {
		a.open[fmt.Sprint(i)] = &choice{call: c}
	}
	if a.forget(c); len(a.past) != maxPast {
		t.Errorf("%d ended questions are kept", len(a.past))
	}
}
