package host

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/persist"
)

// TestHintOnDecision: a hook can make a decision stricter, and looser only where nothing but the mode wants a person
// asked.
func TestHintOnDecision(t *testing.T) {
	decision := func(b agenttool.Behavior, mode permissions.Mode, kind string, rules ...string) agenttool.Decision {
		return agenttool.Decision{
			Behavior: b, Mode: string(mode), Reason: &agenttool.DecisionReason{Type: kind, Detail: "the policy's"}, RuleRefs: rules,
			SuggestedUpdates: []agenttool.SuggestedUpdate{{}}, Grants: []string{"host:x"},
		}
	}
	allow, ask, deny := agenttool.Allow, agenttool.Ask, agenttool.Deny
	for _, c := range []struct {
		name string
		hint agenttool.Behavior
		d    agenttool.Decision
		want agenttool.Behavior
		kind string // of the reason
	}{
		{"no opinion", "", decision(ask, permissions.Default, "mode"), ask, "mode"},
		{"allow what the mode asks about", allow, decision(ask, permissions.Default, "mode"), allow, "hook"},
		{"allow what is not understood", allow, decision(ask, permissions.Default, "classifier"), allow, "hook"},
		{"allow what is outside", allow, decision(ask, permissions.Default, "working_dir"), allow, "hook"},
		{"allow what a rule asks about", allow, decision(ask, permissions.Default, "rule", "session:Shell(x)"), ask, "rule"},
		{"allow what a rule asks about in part", allow, decision(ask, permissions.Default, "subcommand_results", "session:Shell(x)"), ask, "subcommand_results"},
		{"allow what is protected", allow, decision(ask, permissions.Default, "safety_check"), ask, "safety_check"},
		{"allow what a rule denies", allow, decision(deny, permissions.Default, "rule", "session:Shell(x)"), deny, "rule"},
		{"allow what mode dont_ask denies", allow, decision(deny, permissions.DontAsk, "mode"), deny, "mode"},
		{"allow what mode plan denies", allow, decision(deny, permissions.Plan, "mode"), deny, "mode"},
		{"allow for a reason that is not known", allow, decision(ask, permissions.Default, "policy"), ask, "policy"},
		{"allow what is allowed", allow, decision(allow, permissions.Default, "rule", "session:x"), allow, "rule"},
		{"ask about what is allowed", ask, decision(allow, permissions.Default, "rule", "session:x"), ask, "hook"},
		{"ask in mode bypass", ask, decision(allow, permissions.Bypass, "mode"), ask, "hook"},
		{"ask in mode dont_ask", ask, decision(allow, permissions.DontAsk, "rule", "session:x"), deny, "hook"},
		{"ask in mode plan", ask, decision(allow, permissions.Plan, "mode"), deny, "hook"},
		{"ask about what is asked about", ask, decision(ask, permissions.Default, "mode"), ask, "mode"},
		{"ask about what is denied", ask, decision(deny, permissions.Default, "rule"), deny, "rule"},
		{"deny what is allowed", deny, decision(allow, permissions.Bypass, "mode"), deny, "hook"},
		{"deny what is asked about", deny, decision(ask, permissions.Default, "mode"), deny, "hook"},
		{"deny what is denied", deny, decision(deny, permissions.Default, "rule", "session:x"), deny, "rule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hint{behavior: c.hint, said: hook.Message{Text: "because", Ref: "hook_1", Name: "./check (/s.json:3)"}}
			got := h.on(c.d)
			if got.Behavior != c.want || got.Reason.Type != c.kind {
				t.Fatalf("%s for %s, want %s for %s", got.Behavior, got.Reason.Type, c.want, c.kind)
			}
			if c.kind != "hook" {
				return
			}
			if s := got.Reason.Detail; !strings.Contains(s, "the hook ./check (/s.json:3): because") || string(got.Reason.Extra["hook_ref"]) != `"hook_1"` {
				t.Errorf("reason %+v", got.Reason)
			}
			if len(got.RuleRefs) > 0 || got.Source != "" || (len(got.SuggestedUpdates) > 0) != (got.Behavior == ask) {
				t.Errorf("decision %+v", got)
			}
			if c.d.Reason.Detail != "the policy's" {
				t.Error("the policy's own decision was changed")
			}
		})
	}
}

// TestNoHooksCostNothing: where none are set, asking for them allocates nothing.
func TestNoHooksCostNothing(t *testing.T) {
	c, d := &call{}, agenttool.Decision{}
	e := &ending{c: c}
	if n := testing.AllocsPerRun(100, func() {
		_ = c.preHooks(t.Context())
		_, _ = c.permissionRequestHooks(t.Context(), &d)
		c.permissionDecisionHooks(t.Context(), d)
		e.postHooks()
		e.persistenceHooks()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// stuckTool does not return when its call ends.
type stuckTool struct{ started, release chan struct{} }

func (s stuckTool) Describe() agenttool.Description {
	return agenttool.Description{
		Declaration: agenttool.Declaration{ToolID: "test.stuck", Name: "stuck", Lifecycle: agenttool.Available},
		Interface:   agenttool.Interface{CallRules: agenttool.CallRules{InterruptBehavior: "cancel"}, Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(`{"type":"object"}`)}},
	}
}

func (s stuckTool) Bind(agenttool.Scope, json.RawMessage) (agenttool.Call, error) { return s, nil }
func (s stuckTool) Input() any                                                    { return map[string]string{"a": "b"} }
func (s stuckTool) Facts() *agenttool.Facts {
	return &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}}
}

func (s stuckTool) Run(context.Context, agenttool.Reporter) (agenttool.Output, error) {
	close(s.started)
	<-s.release
	return agenttool.Output{}, nil
}

// TestHooksOfAnAbandonedCall: hooks hear of a call that is answered for because it is stuck, once, and what hooks said
// before is in its result.
func TestHooksOfAnAbandonedCall(t *testing.T) {
	dir := t.TempDir()
	script := func(e hook.Event, text string) hook.Hook {
		return hook.Hook{Event: e, Command: []string{"/bin/sh", "-c", text}, Dir: dir}
	}
	tool := stuckTool{make(chan struct{}), make(chan struct{})}
	h, err := New(Options{
		Tools: []agenttool.Tool{tool}, Scope: agenttool.Scope{Dir: dir, Roots: []string{dir}}, Policy: permissions.Policy{Workspace: dir},
		Store: persist.New(persist.Options{Dir: t.TempDir()}), Locate: func(*agenttool.Path) error { return nil }, HookEnviron: os.Environ(),
		Hooks: []hook.Hook{
			script(hook.PreToolUse, `echo '{"additional_context":["watched"]}'`),
			script(hook.PostToolUse, `echo >>wrong`),
			script(hook.PostToolUseFailure, `cat >>told`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan Completion, 1)
	if err := h.Invoke(Request{ID: "c1", Tool: "stuck", Input: []byte(`{}`)}, func(c Completion) { done <- c }); err != nil {
		t.Fatal(err)
	}
	<-tool.started
	c := h.live.find("c1")
	h.Cancel("c1", "")
	c.abandon()
	got := <-done
	close(tool.release)
	if err := h.Close(); err != nil && !errors.Is(err, persist.ErrPending) { // other tests may keep the disk busy
		t.Error(err)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if n := strings.Count(string(told), "\n"); err != nil || n != 1 || !strings.Contains(string(told), `"input":{"a":"b"}`) {
		t.Errorf("told %d times: %s, %v", n, told, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "wrong")); err == nil {
		t.Error("the hook of success ran")
	}
	if got.Result.Status != agenttool.ResultCanceled || len(got.Invocation.HookRefs) != 2 ||
		!slices.ContainsFunc(got.Result.Content, func(b agenttool.Content) bool { return b.Text == "watched" }) {
		t.Errorf("result %+v, hooks %v", got.Result, got.Invocation.HookRefs)
	}
}
