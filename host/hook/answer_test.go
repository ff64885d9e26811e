package hook

import (
	"reflect"
	"strings"
	"testing"
)

// TestParseAnswer: what is no answer of the event is an error, and is never taken for silence.
func TestParseAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		event  Event
		stdout string
		wrong  string // part of the error; empty: it is an answer
	}{
		{"nothing", PreToolUse, "", ""},
		{"white space", PreToolUse, " \t\r\n", ""},
		{"an empty object", PreToolUse, "{}", ""},
		{"everything before", PreToolUse, `{"message":"m","progress":"p","updated_input":{},"permission_result":{"behavior":"ask"},"additional_context":[],"stop":{}}`, ""},
		{"everything after", PostToolUse, `{"message":"m","progress":{"message":"p","percent":5},"additional_context":["a"],"stop":{"reason":"r"},"updated_output":{"content":[{"type":"text","text":"x"}]}}`, ""},
		{"text", PreToolUse, "ok\nfine", "begins with: ok"},
		{"text with an escape", PreToolUse, "\x1b[31mok", `\u{1b}`},
		{"two objects", PreToolUse, "{}{}", "JSON"},
		{"a list", PreToolUse, "[]", "object"},
		{"null", PreToolUse, "null", "object"},
		{"half", PreToolUse, `{"message":`, "JSON"},
		{"a key twice", PreToolUse, `{"permission_result":{"behavior":"deny"},"permission_result":{"behavior":"allow"}}`, "permission_result"},
		{"an unknown key", PreToolUse, `{"decision":"block"}`, "decision"},
		{"a key in capitals", PreToolUse, `{"Permission_Result":{"behavior":"deny"}}`, "Permission_Result"},
		{"an unknown key inside", PreToolUse, `{"permission_result":{"behavior":"deny","why":"x"}}`, "why"},
		{"an unknown behaviour", PreToolUse, `{"permission_result":{"behavior":"block"}}`, "behavior"},
		{"no behaviour", PreToolUse, `{"permission_result":{}}`, "behavior"},
		{"null for an opinion", PreToolUse, `{"permission_result":null}`, "permission_result"},
		{"an input that is no object", PreToolUse, `{"updated_input":"rm"}`, "updated_input"},
		{"half a character", PreToolUse, `{"updated_input":{"path":"\ud800"}}`, "surrogate"},
		{"no UTF-8", PreToolUse, "{\"message\":\"\xff\"}", ""},
		{"an opinion too late", PostToolUse, `{"permission_result":{"behavior":"deny"}}`, "means nothing in post_tool_use"},
		{"an input too late", PermissionDecision, `{"updated_input":{}}`, "means nothing"},
		{"an output too early", PreToolUse, `{"updated_output":"x"}`, "means nothing"},
		{"an output of a failure", PostToolUseFailure, `{"updated_output":"x"}`, "means nothing"},
		{"stop when it is kept", ResultPersistence, `{"stop":{}}`, "means nothing"},
		{"an empty output", PostToolUse, `{"updated_output":{}}`, "updated_output"},
		{"a block of no type", PostToolUse, `{"updated_output":{"content":[{"text":"x"}]}}`, "type"},
		{"too deep", PreToolUse, `{"updated_input":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000) + `}`, "nest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := ParseAnswer(c.event, []byte(c.stdout))
			switch {
			case c.name == "no UTF-8":
				if err == nil {
					t.Error("it is an answer")
				}
			case (err == nil) != (c.wrong == ""):
				t.Fatalf("%v, want an error with %q", err, c.wrong)
			case err != nil && !strings.Contains(err.Error(), c.wrong):
				t.Errorf("%v, want an error with %q", err, c.wrong)
			}
			if err != nil && !reflect.DeepEqual(a, Answer{}) {
				t.Errorf("a wrong answer says %+v", a)
			}
			if err != nil && (len(err.Error()) > 800 || strings.ContainsRune(err.Error(), 0x1b)) {
				t.Errorf("error %q", err)
			}
		})
	}
}

// FuzzParseAnswer: no panic, and nothing but an object of the right form says anything.
func FuzzParseAnswer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"message":"m","progress":"p"}`, `{"updated_output":{"structured_content":{"a":1}}}`, `{"permission_result":{"behavior":"deny"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		for _, e := range Events {
			a, err := ParseAnswer(e, []byte(stdout))
			if err != nil && !reflect.DeepEqual(a, Answer{}) {
				t.Errorf("%s: a wrong answer says %+v", e, a)
			}
			if p := a.PermissionResult; p != nil && (!e.decides() || strictness(p.Behavior) == 0) {
				t.Errorf("%s: opinion %+v", e, p)
			}
		}
	})
}
