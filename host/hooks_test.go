package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
)

// hookOf returns a hook that is a shell script in a directory of its own, where it runs. It is set in /set.json:3.
func hookOf(t *testing.T, e hook.Event, script string) hook.Hook {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hook.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return hook.Hook{
		Event: e, Command: []string{"/bin/sh", "hook.sh"}, Dir: dir, Timeout: time.Minute,
		Origin: agenttool.Origin{Source: agenttool.SourceLocal, File: "/set.json", Line: 3},
	}
}

// says is a script that reads what it is told into the file told, notes that it ran, and answers.
func says(answer string) string {
	return "cat >told; echo ran >>runs; cat <<'END'\n" + answer + "\nEND\n"
}

func watched(hooks ...hook.Hook) func(*host.Options) {
	return func(o *host.Options) {
		o.Hooks, o.HookEnviron = hooks, os.Environ()
		o.HookMatch = func(rule string, r permissions.Request) bool {
			return slices.ContainsFunc(r.Facts.Writes, func(p agenttool.Path) bool { return "Write("+p.Spelling+")" == rule })
		}
	}
}

// runsOf is how often a hook ran, toldTo what it was told last.
func runsOf(h hook.Hook) int {
	b, _ := os.ReadFile(filepath.Join(h.Dir, "runs"))
	return strings.Count(string(b), "\n")
}

func toldTo(t *testing.T, h hook.Hook) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.Dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	var told map[string]any
	if err := json.Unmarshal(b, &told); err != nil {
		t.Fatal(err)
	}
	return told
}

// hookEvents are the events of hooks of a call: the class without its prefix, the event of the hook and, when it ended,
// whether it failed.
func (f *fixture) hookEvents(inv agenttool.InvocationID) (list []string, records []agenttool.Hook) {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10000)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, entry := range entries {
		var e struct {
			agenttool.Event
			Data struct {
				Hook agenttool.Hook `json:"hook"`
			} `json:"data"`
		}
		var plain agenttool.Event
		if err := errors.Join(json.Unmarshal(entry.Event, &plain), json.Unmarshal(plain.Data, &e.Data)); err != nil {
			f.t.Fatal(err)
		}
		class, found := strings.CutPrefix(string(plain.EventType), "tool.hook.")
		if plain.InvocationID != inv || !found {
			continue
		}
		if strings.HasSuffix(class, "completed") {
			records = append(records, e.Data.Hook)
		}
		if e.Data.Hook.Extra["error"] != nil {
			class += "!"
		}
		list = append(list, class+" "+e.Data.Hook.HookEvent)
	}
	return list, records
}

var errTool = errors.New("it broke")

// hookedTools look, write what may be written, and fail.
func hookedTools() []agenttool.Tool {
	return []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "put"}, &fake{name: "write"},
		&fake{name: "break", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			return agenttool.Output{}, errTool
		}},
	}
}

// TestHookMoments: which hooks run at which calls, in which order, what they are told, and how that is recorded.
func TestHookMoments(t *testing.T) {
	conform.Held(t, "AT-010", "AT-096", "AT-104", "AT-121", "AT-170", "AT-171", "AT-172", "AT-175", "AT-359", "AT-360", "AT-367", "AT-368")
	events := []hook.Event{hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure, hook.ResultPersistence}
	for _, c := range []struct {
		name   string
		req    host.Request
		want   string // events of hooks
		states string
		told   []string // what the last hook that ran is told
	}{
		{"a call that succeeds", host.Request{Tool: "look", Input: input("a")},
			"pre.started pre_tool_use, pre.completed pre_tool_use, post.started post_tool_use, post.completed post_tool_use, post.started result_persistence, post.completed result_persistence",
			"planned selected arguments_ready pre_hooks_running queued running post_hooks_running succeeded",
			[]string{"hook_event", "facts", "input", "mode", "result", "session_id", "tool", "workspace", "dir"}},
		{"a call that fails", host.Request{Tool: "break", Input: input("a")},
			"pre.started pre_tool_use, pre.completed pre_tool_use, post.started post_tool_use_failure, post.completed post_tool_use_failure, post.started result_persistence, post.completed result_persistence",
			"planned selected arguments_ready pre_hooks_running queued running post_hooks_running failed", []string{"result", "input"}},
		{"a call that is not approved", host.Request{Tool: "put", Input: input("a")},
			"pre.started pre_tool_use, pre.completed pre_tool_use", "planned selected arguments_ready pre_hooks_running denied", []string{"input", "facts"}},
		{"a call with a wrong input", host.Request{Tool: "look", Input: input("bad")}, "", "planned selected validation_failed", nil},
		{"no such tool", host.Request{Tool: "nope", Input: input("a")}, "", "planned failed", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var hooks []hook.Hook
			for _, e := range events {
				hooks = append(hooks, hookOf(t, e, says("")))
			}
			f := newFixture(t, hookedTools(), watched(hooks...))
			c.req.ID = "c1"
			got := f.call(c.req)
			checkRecords(t, got)
			list, records := f.hookEvents(got.Invocation.InvocationID)
			if s := strings.Join(list, ", "); s != c.want {
				t.Errorf("hooks\n%s, want\n%s", s, c.want)
			}
			var refs, states []string
			for _, r := range records {
				refs = append(refs, string(r.HookID))
			}
			for _, s := range got.Invocation.StatusTransitions {
				states = append(states, string(s.Status))
			}
			if !slices.Equal(refs, got.Invocation.HookRefs) || strings.Join(states, " ") != c.states {
				t.Errorf("refs %v of %v, states %v", got.Invocation.HookRefs, refs, states)
			}
			for _, h := range hooks {
				if n := runsOf(h); n > 1 || n == 1 != slices.ContainsFunc(strings.Split(c.want, ", "), func(s string) bool { return strings.HasSuffix(s, "completed "+string(h.Event)) }) {
					t.Errorf("%s ran %d times", h.Event, n)
				}
				for _, key := range c.told {
					if runsOf(h) == 1 && toldTo(t, h)[key] == nil && key != "result" {
						t.Errorf("%s is not told %s", h.Event, key)
					}
				}
				if runsOf(h) == 1 && (toldTo(t, h)["result"] != nil) != !h.Event.Before() {
					t.Errorf("%s is told of a result: %v", h.Event, toldTo(t, h)["result"])
				}
			}
			f.events(got.Invocation.InvocationID) // validates each
		})
	}
}

// TestHookMatchers: a hook runs for the calls that it is set for, by tool and by input.
func TestHookMatchers(t *testing.T) {
	byAlias, byInput, other := hookOf(t, hook.PreToolUse, says("")), hookOf(t, hook.PreToolUse, says("")), hookOf(t, hook.PreToolUse, says(""))
	byAlias.Matcher.Tool, byInput.Matcher.Input, other.Matcher = "Put", "Write(a)", hook.Matcher{Tool: "look", Input: "Write(a)"}
	f := newFixture(t, hookedTools(), allowing("put"), watched(byAlias, byInput, other))
	f.call(host.Request{ID: "1", Tool: "put", Input: input("a")})
	f.call(host.Request{ID: "2", Tool: "PUT", Input: input("b")})
	f.call(host.Request{ID: "3", Tool: "look", Input: input("a")})
	if a, b, c := runsOf(byAlias), runsOf(byInput), runsOf(other); a != 2 || b != 1 || c != 0 {
		t.Errorf("ran %d, %d and %d times, want 2, 1 and 0", a, b, c)
	}
	if m, _ := toldTo(t, byInput)["matcher"].(map[string]any); m["input"] != "Write(a)" {
		t.Errorf("matcher %v", m)
	}
}

// TestHookBlocks: what fails or stops before a call keeps it from running, and says which hook, where it is set and what
// it said.
func TestHookBlocks(t *testing.T) {
	conform.Held(t, "AT-317", "X10")
	for _, c := range []struct {
		name   string
		script string
		code   string
		says   string
	}{
		{"fails", `echo "no disk" >&2; exit 7`, "hook_failed", "exit status 7; it said: no disk"},
		{"says garbage", `echo ok`, "hook_failed", "begins with: ok"},
		{"is not there", "", "hook_failed", "no such file"},
		{"hangs", `sleep 100`, "hook_timeout", "did not end within 100ms"},
		{"stops", says(`{"stop":{"reason":"the budget is spent"},"permission_result":{"behavior":"allow"}}`), "hook_stopped", "stopped the call: the budget is spent"},
		{"makes another input that is wrong", says(`{"updated_input":{"pth":1}}`), "input_mutation_failed", "changed the input to one that cannot be used"},
		{"makes another value that is wrong", says(`{"updated_input":{"path":"bad"}}`), "input_mutation_failed", "bad is never a good path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := hookOf(t, hook.PreToolUse, c.script)
			if c.script == "" {
				h.Command = []string{"./nothing.sh"}
			}
			if c.code == "hook_timeout" {
				h.Timeout = 100 * time.Millisecond
			}
			after := hookOf(t, hook.PostToolUse, says(""))
			f := newFixture(t, hookedTools(), watched(h, hookOf(t, hook.PreToolUse, says(`{"permission_result":{"behavior":"allow"}}`)), after))
			got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
			checkRecords(t, got)
			checkError(t, got, agenttool.HookBlocked, c.code)
			e := got.Result.Error
			if !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, "(/set.json:3)") || !strings.Contains(e.Message, h.Command[0]) {
				t.Errorf("message %q", e.Message)
			}
			if got.Result.Status != agenttool.ResultDenied || got.Invocation.Status != agenttool.StatusDenied || len(got.Invocation.HookRefs) != 2 {
				t.Errorf("result %s, state %s, hooks %v", got.Result.Status, got.Invocation.Status, got.Invocation.HookRefs)
			}
			if slices.Contains(f.events(got.Invocation.InvocationID), "tool.invocation.started") || runsOf(after) > 0 {
				t.Error("the call ran")
			}
		})
	}
}

// TestHookFailsAfter: what fails after a call is told, and changes nothing about how it ended.
func TestHookFailsAfter(t *testing.T) {
	for _, e := range []hook.Event{hook.PostToolUse, hook.PostToolUseFailure, hook.ResultPersistence} {
		for name, script := range map[string]string{
			"fails": `echo "no disk" >&2; exit 1`, "denies": `echo "no disk" >&2; exit 2`, "says garbage": "echo no disk",
			"has an opinion": says(`{"permission_result":{"behavior":"deny","reason":"no disk"}}`),
		} {
			t.Run(string(e)+" "+name, func(t *testing.T) {
				t.Parallel()
				tool, status := "look", agenttool.ResultSucceeded
				if e == hook.PostToolUseFailure {
					tool, status = "break", agenttool.ResultFailed
				}
				f := newFixture(t, hookedTools(), watched(hookOf(t, e, script)))
				got := f.call(host.Request{ID: "c1", Tool: tool, Input: input("a")})
				checkRecords(t, got)
				if got.Result.Status != status || got.Result.IsError != (tool == "break") {
					t.Errorf("result %+v", got.Result)
				}
				var warnings []string
				_ = json.Unmarshal(got.Result.Extra["warnings"], &warnings)
				if len(warnings) != 1 || !strings.Contains(warnings[0], "(/set.json:3)") {
					t.Errorf("warnings %q", warnings)
				}
				if text := got.Result.Content[len(got.Result.Content)-1].Text; len(warnings) == 1 && text != "["+warnings[0]+"]" {
					t.Errorf("content %q", text)
				}
				list, _ := f.hookEvents(got.Invocation.InvocationID)
				if len(list) != 2 || list[1] != "post.completed! "+string(e) {
					t.Errorf("events %v", list)
				}
			})
		}
	}
}

// TestHookChangesInput: the input that a hook makes is bound and decided anew, told apart from the others, and no hook
// runs on it.
func TestHookChangesInput(t *testing.T) {
	conform.Held(t, "AT-090")
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		name   string
		answer string
		ran    string // the path that ran; empty: none
		code   string
		fields string
	}{
		{"to what is allowed", `{"updated_input":{"path":"b"}}`, "b", "", "path"},
		{"to what is not", `{"updated_input":{"path":"c"}}`, "", "approval_unavailable", "path"},
		{"to a large one", `{"updated_input":{"path":"b","say":"` + long + `"}}`, "b", "", "path say"},
		{"to itself", `{"updated_input":{ "path" : "a" }}`, "a", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			first, second := hookOf(t, hook.PreToolUse, says(c.answer)), hookOf(t, hook.PreToolUse, says(""))
			second.Matcher.Input = "Write(b)" // would be about the new input
			f := newFixture(t, hookedTools(), allowing("Write(a)", "Write(b)"), watched(first, second))
			got := f.call(host.Request{ID: "c1", Tool: "write", Input: input("a")})
			checkRecords(t, got)
			if c.code == "" && (got.Result.IsError || got.Result.Content[0].Text != "ran "+c.ran) {
				t.Fatalf("result %+v", got.Result)
			}
			if c.code != "" && (got.Result.Error == nil || got.Result.Error.Code != c.code) {
				t.Errorf("error %+v", got.Result.Error)
			}
			if runsOf(first) != 1 || runsOf(second) != 0 {
				t.Errorf("the hooks ran %d and %d times", runsOf(first), runsOf(second))
			}
			m := f.mutations(got.Invocation.InvocationID)
			if changed := c.fields != ""; changed != (len(m) == 2) {
				t.Fatalf("mutations %+v", m)
			}
			inv := got.Invocation
			if len(m) < 2 {
				if inv.PermissionInputRef != "#/observable_input" {
					t.Errorf("permission input %s, %s", inv.PermissionInput, inv.PermissionInputRef)
				}
				return
			}
			last := m[1]
			if last.SourceType != "hook" || last.SourceRef != inv.HookRefs[0] || strings.Join(last.ChangedFields, " ") != c.fields ||
				last.FromInputRef != "#/observable_input" || last.ToInputRef != "#/permission_input" {
				t.Errorf("mutation %+v", last)
			}
			if string(inv.ObservableInput) != `{"path":"a"}` || string(inv.ModelInput) != `{"path":"a"}` {
				t.Errorf("model input %s, observable %s", inv.ModelInput, inv.ObservableInput)
			}
			kept := string(inv.PermissionInput)
			if inv.PermissionInputRef != "" {
				page, err := f.ReadResult(inv.PermissionInputRef, 0, 10_000)
				if err != nil {
					t.Fatal(err)
				}
				kept = page.Text
			}
			if !strings.Contains(`{"updated_input":`+kept+`}`, c.answer) || len(inv.PermissionInput) > 4096 {
				t.Errorf("permission input %.100s, %s", kept, inv.PermissionInputRef)
			}
			if inv.CallInputRef != "#/permission_input" && inv.CallInputRef != inv.PermissionInputRef {
				t.Errorf("call input %s", inv.CallInputRef)
			}
		})
	}
}

// mutations are the records of changed inputs of a call.
func (f *fixture) mutations(inv agenttool.InvocationID) (list []agenttool.InputMutation) {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10000)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, entry := range entries {
		var e agenttool.Event
		var data struct {
			Mutation *agenttool.InputMutation `json:"mutation"`
		}
		if json.Unmarshal(entry.Event, &e) == nil && json.Unmarshal(e.Data, &data) == nil && data.Mutation != nil && e.InvocationID == inv {
			list = append(list, *data.Mutation)
		}
	}
	return list
}

// TestCancelDuringHook: a call that is canceled while a hook runs ends at once as canceled; after the call it has
// succeeded all the same.
func TestCancelDuringHook(t *testing.T) {
	for _, c := range []struct {
		event  hook.Event
		status agenttool.ResultStatus
	}{{hook.PreToolUse, agenttool.ResultCanceled}, {hook.PostToolUse, agenttool.ResultSucceeded}, {hook.ResultPersistence, agenttool.ResultSucceeded}} {
		t.Run(string(c.event), func(t *testing.T) {
			t.Parallel()
			h := hookOf(t, c.event, `echo >runs; exec sleep 100`)
			f := newFixture(t, hookedTools(), watched(h))
			done := f.start(host.Request{ID: "c1", Tool: "look", Input: input("a")})
			for runsOf(h) == 0 {
				time.Sleep(5 * time.Millisecond)
			}
			begin := time.Now()
			f.Cancel("c1", "never mind")
			got := <-done
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			checkRecords(t, got)
			if got.Result.Status != c.status {
				t.Errorf("result %+v", got.Result)
			}
			if list, _ := f.hookEvents(got.Invocation.InvocationID); len(list) != 2 || !strings.Contains(list[1], "completed!") {
				t.Errorf("events %v", list)
			}
		})
	}
}

// TestHooksAfterTheEnd: hooks still hear of a call that was ended, but have little time then; so the host ends in time.
func TestHooksAfterTheEnd(t *testing.T) {
	for limit := time.Now().Add(time.Minute); !hooksAfterTheEnd(t) && !t.Failed(); {
		if time.Now().After(limit) {
			t.Fatal("the quick hook never ran")
		}
	}
}

// hooksAfterTheEnd ends a host in a call and reports whether the quick one of its hooks ran. Where the machine did not start it in the little
// time, the result says so.
func hooksAfterTheEnd(t *testing.T) bool {
	t.Helper()
	quick, slow := hookOf(t, hook.PostToolUseFailure, `echo ran >>runs`), hookOf(t, hook.PostToolUseFailure, `trap '' TERM; while :; do sleep 0.1; done`)
	started := make(chan struct{})
	f := newFixture(t, []agenttool.Tool{&fake{name: "hang", reads: true, run: func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		close(started)
		<-ctx.Done()
		return agenttool.Output{}, context.Cause(ctx)
	}}}, watched(quick, slow))
	done := f.start(host.Request{ID: "c1", Tool: "hang", Input: input("a")})
	<-started
	begin := time.Now()
	if err := f.Host.Close(); err != nil {
		t.Error(err)
	}
	got := <-done
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	w := string(got.Result.Extra["warnings"])
	late := strings.Count(w, "longer than the 1.5s")
	if got.Result.AbortReason != "runtime shutdown" || late == 0 || runsOf(quick) == 0 && late == 1 {
		t.Errorf("the quick hook ran %d times; result %+v, warnings %s", runsOf(quick), got.Result, w)
	}
	return runsOf(quick) == 1
}

// TestHooksAreASnapshot: a call runs with the hooks that were set when it was admitted; hooks that cannot work change
// nothing.
func TestHooksAreASnapshot(t *testing.T) {
	first, second := hookOf(t, hook.PostToolUse, says("")), hookOf(t, hook.PostToolUse, says(""))
	release, started := make(chan struct{}), make(chan struct{}, 2)
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		started <- struct{}{}
		<-release
		return agenttool.Output{}, nil
	}}}, watched(first))
	done := f.start(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	<-started
	if err := f.SetHooks([]hook.Hook{second}); err != nil {
		t.Fatal(err)
	}
	bad := second
	bad.Matcher.Tool = "nope"
	if err := f.SetHooks([]hook.Hook{bad}); err == nil || !strings.Contains(err.Error(), "/set.json:3") {
		t.Errorf("a hook for no tool: %v", err)
	}
	close(release)
	<-done
	f.call(host.Request{ID: "c2", Tool: "look", Input: input("a")})
	if err := f.SetHooks(nil); err != nil || f.Hooks() != nil {
		t.Errorf("no hooks: %v", err)
	}
	f.call(host.Request{ID: "c3", Tool: "look", Input: input("a")})
	if runsOf(first) != 1 || runsOf(second) != 1 {
		t.Errorf("the hooks ran %d and %d times", runsOf(first), runsOf(second))
	}
	o := host.Options{Tools: hookedTools(), Locate: func(*agenttool.Path) error { return nil }, Store: f.store}
	byInput := second
	byInput.Matcher = hook.Matcher{Input: "Write(a)"}
	o.Hooks = []hook.Hook{byInput}
	if _, err := host.New(o); err == nil || !strings.Contains(err.Error(), "HookMatch") {
		t.Errorf("nothing that matches inputs: %v", err)
	}
}

// TestHooksKeepLocks: nobody writes a file while the hooks of a call that wrote it are at it.
func TestHooksKeepLocks(t *testing.T) {
	h := hookOf(t, hook.PostToolUse, `[ -e inside ] && echo >twice; : >inside; sleep 0.1; rm inside; echo >>runs`)
	var inside string
	f := newFixture(t, []agenttool.Tool{&fake{name: "write", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		if _, err := os.Stat(inside); err == nil {
			return agenttool.Output{}, errors.New("a hook is at it")
		}
		return agenttool.Output{}, nil
	}}}, allowing("write"), watched(h))
	inside = filepath.Join(h.Dir, "inside")
	var calls []<-chan host.Completion
	for i := range 5 {
		calls = append(calls, f.start(host.Request{ID: fmt.Sprint(i), Tool: "write", Input: input("a")}))
	}
	for _, done := range calls {
		if got := <-done; got.Result.IsError {
			t.Errorf("error %+v", got.Result.Error)
		}
	}
	if _, err := os.Stat(filepath.Join(h.Dir, "twice")); err == nil || runsOf(h) != 5 {
		t.Errorf("two hooks of one file ran at once, or not all of %d ran", runsOf(h))
	}
}
