package host_test

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
)

// TestHookOpinion: what hooks say of permission, and how far it reaches: deny always, ask always, allow only where the
// mode alone would ask.
func TestHookOpinion(t *testing.T) {
	conform.Held(t, "AT-140", "AT-144", "AT-184")
	const (
		allow = `{"permission_result":{"behavior":"allow","reason":"it is fine"}}`
		ask   = `{"permission_result":{"behavior":"ask","reason":"look at it"}}`
		deny  = `{"permission_result":{"behavior":"deny","reason":"not on a friday"}}`
		pass  = `{"permission_result":{"behavior":"passthrough"}}`
	)
	before, prompt := hook.PreToolUse, hook.PermissionRequest
	for _, c := range []struct {
		name   string
		event  hook.Event
		answer string
		tool   string
		path   string
		mode   permissions.Mode
		rules  map[agenttool.Behavior]string
		code   string // of the error; empty: it runs
	}{
		{"deny what only reads", before, deny, "look", "a", "", nil, "denied_by_hook"},
		{"deny what a rule allows", before, deny, "write", "a", "", map[agenttool.Behavior]string{agenttool.Allow: "write"}, "denied_by_hook"},
		{"deny in mode bypass", before, deny, "write", "a", permissions.Bypass, nil, "denied_by_hook"},
		{"deny with 2", before, "", "look", "a", "", nil, "denied_by_hook"},
		{"deny what would be asked", prompt, deny, "write", "a", "", nil, "denied_by_hook"},
		{"allow what would be asked", before, allow, "write", "a", "", nil, ""},
		{"allow instead of a person", prompt, allow, "write", "a", "", nil, ""},
		{"allow what a rule denies", before, allow, "write", "a", "", map[agenttool.Behavior]string{agenttool.Deny: "Write(a)"}, "denied_by_rule"},
		{"allow what a rule asks about", before, allow, "write", "a", "", map[agenttool.Behavior]string{agenttool.Ask: "Write(a)"}, "approval_unavailable"},
		{"allow what a rule asks about, when asked", prompt, allow, "write", "a", "", map[agenttool.Behavior]string{agenttool.Ask: "Write(a)"}, "approval_unavailable"},
		{"allow what is protected", before, allow, "write", ".git/config", "", nil, "approval_unavailable"},
		{"allow what is protected, when asked", prompt, allow, "write", ".git/config", "", nil, "approval_unavailable"},
		{"allow in mode plan", before, allow, "write", "a", permissions.Plan, nil, "denied_by_mode"},
		{"allow in mode dont_ask", before, allow, "write", "a", permissions.DontAsk, nil, "denied_by_mode"},
		{"ask about what only reads", before, ask, "look", "a", "", nil, "approval_unavailable"},
		{"ask in mode bypass", before, ask, "write", "a", permissions.Bypass, nil, "approval_unavailable"},
		{"ask in mode dont_ask", before, ask, "look", "a", permissions.DontAsk, nil, "denied_by_hook"},
		{"no opinion", before, "{}", "look", "a", "", nil, ""},
		{"leave what only reads to the mode", before, pass, "look", "a", "", nil, ""},
		{"leave what writes to the mode", before, pass, "write", "a", permissions.DontAsk, nil, "denied_by_mode"},
		{"leave what is denied to the rules", before, pass, "write", "a", "", map[agenttool.Behavior]string{agenttool.Deny: "Write(a)"}, "denied_by_rule"},
		{"leave it, when asked", prompt, pass, "write", "a", "", nil, "approval_unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := hookOf(t, c.event, says(c.answer))
			if c.answer == "" {
				h = hookOf(t, c.event, `echo "not on a friday" >&2; exit 2`)
			}
			f := newFixture(t, hookedTools(), watched(h), func(o *host.Options) {
				o.Policy.Mode = c.mode
				for behavior, text := range c.rules {
					r, err := permissions.Parser{Names: host.Names(o.Tools)}.Parse(text, behavior, agenttool.Origin{Source: agenttool.SourceCLI})
					if err != nil {
						t.Fatal(err)
					}
					o.Policy = o.Policy.With(r)
				}
			})
			got := f.call(host.Request{ID: "c1", Tool: c.tool, Input: input(c.path)})
			checkRecords(t, got)
			if e := got.Result.Error; (e == nil) != (c.code == "") || e != nil && e.Code != c.code {
				t.Fatalf("error %+v, want %q", e, c.code)
			}
			if c.code == "denied_by_hook" && c.mode == "" && !strings.Contains(got.Result.Content[0].Text, "not on a friday") {
				t.Errorf("content %+v", got.Result.Content)
			}
			if slices.Contains(f.events(got.Invocation.InvocationID), "tool.invocation.started") != (c.code == "") {
				t.Error("it ran, or it did not")
			}
		})
	}
}

// TestHooksOfAPrompt: hooks run before a person is asked, tell them something, may change what is asked about, and hear
// what was decided.
func TestHooksOfAPrompt(t *testing.T) {
	conform.Held(t, "AT-173", "AT-174")
	request := hookOf(t, hook.PermissionRequest, says(`{"message":"costs 3 EUR","updated_input":{"path":"b"}}`))
	decision := hookOf(t, hook.PermissionDecision, says(`{"additional_context":["noted"]}`))
	f := newFixture(t, hookedTools(), watched(request, decision))
	requests, _ := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	asked := <-requests
	if runsOf(request) != 1 || runsOf(decision) != 0 || toldTo(t, request)["decision"].(map[string]any)["behavior"] != "ask" {
		t.Errorf("before the answer the hooks ran %d and %d times", runsOf(request), runsOf(decision))
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	checkRecords(t, got)
	if got.Result.Content[0].Text != "ran b" || !strings.Contains(got.Result.Content[1].Text, "changed by the hook") || got.Result.Content[2].Text != "noted" {
		t.Errorf("content %+v", got.Result.Content)
	}
	if d := toldTo(t, decision)["decision"].(map[string]any); d["behavior"] != "allow" || d["request_ref"] != string(asked.DecisionID) {
		t.Errorf("the hook is told of %v", d)
	}
	if m := f.mutations(got.Invocation.InvocationID); len(m) != 2 || m[1].SourceType != "hook" || m[1].SourceRef != got.Invocation.HookRefs[0] {
		t.Errorf("mutations %+v", m)
	}
	if runsOf(request) != 1 || runsOf(decision) != 1 {
		t.Errorf("the hooks ran %d and %d times", runsOf(request), runsOf(decision))
	}
}

// TestHooksHearOfDecisions: also of those that nobody is asked about. One that fails keeps an allowed call from running; a denied one
// stays denied, and its result has a warning.
func TestHooksHearOfDecisions(t *testing.T) {
	for tool, want := range map[string]string{"look": "allow", "put": "deny"} {
		h, broken := hookOf(t, hook.PermissionDecision, says("")), hookOf(t, hook.PermissionDecision, "exit 2")
		if want == "deny" {
			broken = hookOf(t, hook.PermissionDecision, "exit 1")
		}
		f := newFixture(t, hookedTools(), watched(h, broken))
		got := f.call(host.Request{ID: "c1", Tool: tool, Input: input("a")})
		checkRecords(t, got)
		if d := toldTo(t, h)["decision"].(map[string]any); d["behavior"] != want || runsOf(h) != 1 {
			t.Errorf("%s: told of %v, %d times", tool, d, runsOf(h))
		}
		w, e := string(got.Result.Extra["warnings"]), got.Result.Error
		switch {
		case e == nil || slices.Contains(f.events(got.Invocation.InvocationID), "tool.invocation.started"):
			t.Errorf("%s: it ran: %+v", tool, got.Result)
		case want == "allow" && (e.Code != "hook_stopped" || w != ""), want == "deny" && (e.Code != "approval_unavailable" || !strings.Contains(w, "permission_decision hook")):
			t.Errorf("%s: error %+v, warnings %s", tool, e, w)
		}
	}
}

// TestHookWantsAPerson: a rule that is added while a hook has a person asked does not answer the prompt.
func TestHookWantsAPerson(t *testing.T) {
	h := hookOf(t, hook.PreToolUse, says(`{"permission_result":{"behavior":"ask"}}`))
	f := newFixture(t, hookedTools(), watched(h))
	requests, _ := f.prompts()
	first := f.start(host.Request{ID: "1", Tool: "write", Input: input("a")})
	one := <-requests
	f.Amend(host.Amendment{Policy: permissions.Policy{Workspace: "/ws", Mode: permissions.AcceptEdits}})
	if n := len(f.Prompts()); n != 1 {
		t.Errorf("%d prompts wait", n)
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: one.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	if got := <-first; got.Result.IsError {
		t.Errorf("result %+v", got.Result)
	}
}
