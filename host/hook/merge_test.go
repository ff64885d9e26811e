package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// runOf returns a finished run of a hook that answered so, or failed where the answer is "!".
func runOf(t *testing.T, e Event, i int, answer string) Run {
	t.Helper()
	r := Run{Hook: &Hook{Event: e, Command: []string{fmt.Sprintf("./h%d", i)}}, Record: agenttool.Hook{HookID: agenttool.HookID(fmt.Sprintf("hook_%d", i))}}
	if answer == "!" {
		r.Err = r.Hook.failure(ending{err: errTimeout})
		return r
	}
	var err error
	if r.Answer, err = ParseAnswer(e, []byte(answer)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMerge: deny over ask over allow, stop beside all, changes of one hook only.
func TestMerge(t *testing.T) {
	conform.Held(t, "AT-176", "AT-177", "AT-178", "AT-179", "AT-180", "AT-181", "AT-182")
	const (
		allow = `{"permission_result":{"behavior":"allow","reason":"fine"}}`
		ask   = `{"permission_result":{"behavior":"ask","reason":"look"}}`
		deny  = `{"permission_result":{"behavior":"deny","reason":"never"}}`
		toA   = `{"updated_input":{"path":"a"}}`
		toA2  = `{ "updated_input" : { "path" : "a" } }`
		toB   = `{"updated_input":{"path":"b"}}`
	)
	for _, c := range []struct {
		name     string
		event    Event
		answers  []string
		behavior agenttool.Behavior
		by       string // whose reason counts
		stop     string
		input    string
		output   string
		context  string
		messages int
		failures int
	}{
		{name: "nobody", event: PreToolUse},
		{name: "no opinion", event: PreToolUse, answers: []string{"", "{}", " \n"}},
		{name: "allow", event: PreToolUse, answers: []string{"", allow}, behavior: agenttool.Allow, by: "hook_1"},
		{name: "the first of two", event: PreToolUse, answers: []string{allow, allow}, behavior: agenttool.Allow, by: "hook_0"},
		{name: "ask over allow", event: PreToolUse, answers: []string{allow, ask}, behavior: agenttool.Ask, by: "hook_1"},
		{name: "deny over ask", event: PreToolUse, answers: []string{deny, ask, allow}, behavior: agenttool.Deny, by: "hook_0"},
		{name: "deny last", event: PermissionRequest, answers: []string{allow, ask, deny}, behavior: agenttool.Deny, by: "hook_2"},
		{name: "stop", event: PreToolUse, answers: []string{allow, `{"stop":{"reason":"enough"}}`, `{"stop":{}}`}, behavior: agenttool.Allow, by: "hook_0", stop: "hook_1"},
		{name: "a failure beside deny", event: PreToolUse, answers: []string{"!", deny}, behavior: agenttool.Deny, by: "hook_1", failures: 1},
		{name: "a failure beside allow", event: PreToolUse, answers: []string{allow, "!", "!"}, behavior: agenttool.Allow, by: "hook_0", failures: 2},
		{name: "another input", event: PreToolUse, answers: []string{"", toA}, input: `{"path":"a"}`},
		{name: "the same input twice", event: PreToolUse, answers: []string{toA, toA2}, input: `{"path":"a"}`},
		{name: "two inputs", event: PreToolUse, answers: []string{toA, toB}, input: `{"path":"a"}`, failures: 1},
		{name: "allowed before it was rewritten", event: PreToolUse, answers: []string{allow, toA}, input: `{"path":"a"}`},
		{name: "allowed by who rewrote it", event: PreToolUse, input: `{"path":"a"}`, behavior: agenttool.Allow, by: "hook_0",
			answers: []string{`{"updated_input":{"path":"a"},"permission_result":{"behavior":"allow"}}`, ""}},
		{name: "denied before it was rewritten", event: PreToolUse, answers: []string{deny, toA}, input: `{"path":"a"}`, behavior: agenttool.Deny, by: "hook_0"},
		{name: "asked before it was rewritten", event: PreToolUse, answers: []string{toA, ask}, input: `{"path":"a"}`, behavior: agenttool.Ask, by: "hook_1"},
		{name: "an output", event: PostToolUse, answers: []string{`{"updated_output":"x"}`, `{"updated_output":"x"}`}, output: "x"},
		{name: "two outputs", event: ResultPersistence, answers: []string{`{"updated_output":"x"}`, `{"updated_output":"y"}`}, output: "x", failures: 1},
		{name: "context and messages in order", event: PostToolUse, context: "a\nb\nc", messages: 2,
			answers: []string{`{"additional_context":["a",{"text":"b"}],"message":"m"}`, `{"additional_context":["c"],"message":"n"}`}},
		{name: "what failed says nothing", event: PostToolUse, answers: []string{"!", `{"message":"n"}`}, messages: 1, failures: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var runs []Run
			for i, a := range c.answers {
				runs = append(runs, runOf(t, c.event, i, a))
			}
			o := Merge(c.event, runs)
			if o.Behavior != c.behavior || string(o.Why.Ref) != c.by {
				t.Errorf("%q by %q, want %q by %q", o.Behavior, o.Why.Ref, c.behavior, c.by)
			}
			if stop := o.Stop; (stop == nil) != (c.stop == "") || stop != nil && string(stop.Ref) != c.stop {
				t.Errorf("stop %+v, want %q", stop, c.stop)
			}
			if string(o.Input) != c.input {
				t.Errorf("input %s, want %s", o.Input, c.input)
			}
			if (o.Output == nil) != (c.output == "") || o.Output != nil && o.Output.Content[0].Text != c.output {
				t.Errorf("output %+v, want %q", o.Output, c.output)
			}
			if o.Context != c.context || len(o.Messages) != c.messages || len(o.Failures) != c.failures {
				t.Errorf("context %q, messages %v, failures %v", o.Context, o.Messages, o.Failures)
			}
		})
	}
}

// TestMergeIsBounded: what hooks say is cut with a mark, and nothing of it is hidden.
func TestMergeIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 9_000)
	text, _ := json.Marshal(long + "\u202e\x1b[2J")
	answer := fmt.Sprintf(`{"message":%s,"additional_context":[%s],"permission_result":{"behavior":"deny","reason":%s},"stop":{"reason":%s}}`, text, text, text, text)
	var runs []Run
	for i := range 50 {
		runs = append(runs, runOf(t, PreToolUse, i, answer))
	}
	o := Merge(PreToolUse, runs)
	all := o.Context + o.Why.Text + o.Stop.Text
	for _, m := range o.Messages {
		all += m.Text
	}
	if n := len([]rune(all)); n > 26_000 || n < 20_000 {
		t.Errorf("%d characters are left of 450,000", n)
	}
	if strings.ContainsAny(all, "\u202e\x1b") || !strings.Contains(all, "left out]") || !strings.Contains(all, `\u{202e}`) {
		t.Error("something is hidden, or it is not said that something was left out")
	}
}

// TestContradictionSaysWho: a message names both hooks, and is of class hook_blocked.
func TestContradictionSaysWho(t *testing.T) {
	o := Merge(PreToolUse, []Run{runOf(t, PreToolUse, 3, `{"updated_input":{"n":1}}`), runOf(t, PreToolUse, 4, `{"updated_input":{"n":1.0}}`)})
	if len(o.Failures) != 1 || !errors.Is(o.Failures[0], agenttool.HookBlocked) || !strings.Contains(o.Failures[0].Message, "./h3 and ./h4") {
		t.Errorf("failures %v", o.Failures)
	}
}
