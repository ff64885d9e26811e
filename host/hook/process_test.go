package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// hang is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const hang = time.Minute

// script returns a hook that runs a shell script in an own workspace, and the runner.
func script(t *testing.T, e Event, text string) (*Runner, *Hook) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := NewRunner(Options{Workspace: dir, Session: "ses_1", Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, &Hook{Event: e, Command: []string{"/bin/sh", file}, Timeout: hang}
}

// runOne runs one hook to its end.
func runOne(ctx context.Context, r *Runner, h *Hook, subject string) Run {
	runs := r.Prepare([]*Hook{h}, "inv_1", "test.tool")
	r.Run(ctx, runs, json.RawMessage(subject))
	return runs[0]
}

// TestProcess: however a hook behaves, it comes back in time, and what is wrong with it is said.
func TestProcess(t *testing.T) {
	conform.Held(t, "AT-183")
	for _, c := range []struct {
		name    string
		script  string
		command []string // instead of the script
		timeout time.Duration
		within  time.Duration
		code    string // of the failure; empty: none
		says    string // part of its message
		answers string // the message of the answer
		denies  string // the reason of a denial
	}{
		{name: "says nothing", script: ""},
		{name: "answers", script: `echo '{"message":"hello"}'`, answers: "hello"},
		{name: "reads what it is told", script: `cat >/dev/null; echo '{"message":"read"}'`, answers: "read"},
		{name: "closes its stdin", script: `exec <&-; echo '{"message":"deaf"}'`, answers: "deaf"},
		{name: "denies with 2", script: `echo '{"permission_result":{"behavior":"allow"}}'; echo "not on a friday" >&2; exit 2`, denies: "not on a friday"},
		{name: "denies without a word", script: `exit 2`, denies: ""},
		{name: "fails", script: `echo '{}'; echo "no such table" >&2; exit 1`, code: "hook_failed", says: "exit status 1; it said: no such table"},
		{name: "crashes", script: `kill -SEGV $$`, code: "hook_failed", says: "segmentation fault"},
		{name: "says garbage", script: `echo "all good"`, code: "hook_failed", says: "begins with: all good"},
		{name: "says garbage and denies", script: `echo garbage; exit 2`, denies: ""},
		{name: "hangs", script: `echo waiting >&2; sleep 100`, timeout: 200 * time.Millisecond, within: hang, code: "hook_timeout", says: "did not end within 200ms"},
		{name: "ignores TERM", script: `trap '' TERM; while :; do sleep 0.05; done`, timeout: 200 * time.Millisecond, within: hang, code: "hook_timeout"},
		{name: "stops itself", script: `kill -STOP $$`, timeout: 200 * time.Millisecond, within: hang, code: "hook_timeout"},
		{name: "floods stdout", script: `yes`, within: hang, code: "hook_failed", says: "more than 1 MiB"},
		{name: "floods stdout and ends", script: `head -c 3000000 /dev/zero`, within: hang, code: "hook_failed", says: "more than 1 MiB"},
		{name: "floods stderr", script: `head -c 3000000 /dev/zero | tr '\0' x >&2; echo tail >&2; exit 1`, within: hang, code: "hook_failed", says: "xxxtail"},
		{name: "leaves who holds the pipes", script: `sleep 100 & echo '{"message":"gone"}'`, within: hang, answers: "gone"},
		{name: "leaves who writes on", script: `(while echo '{'; do : >up; sleep 0.05; done) & until [ -e up ]; do sleep 0.01; done; echo '{"message":"gone"}'`, within: hang, code: "hook_failed"},
		{name: "leaves a daemon", script: `setsid sleep 100 </dev/null >/dev/null 2>&1 & echo '{"message":"gone"}'`, within: hang, answers: "gone"},
		{name: "hangs with a family", script: `sleep 100 & setsid sleep 30 & (trap '' TERM; sleep 100) & wait`, timeout: 200 * time.Millisecond, within: hang, code: "hook_timeout"},
		{name: "is not there", command: []string{"./nothing"}, code: "hook_failed", says: "no such file"},
		{name: "is not in the PATH", command: []string{"toolhost-no-such-program"}, code: "hook_failed", says: "no program \"toolhost-no-such-program\" in its PATH"},
		{name: "is a directory", command: []string{"/"}, code: "hook_failed", says: "permission denied"},
		{name: "is found in the PATH", command: []string{"echo", `{"message":"found"}`}, answers: "found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, h := script(t, PreToolUse, c.script)
			if c.command != nil {
				h.Command = c.command
			}
			if c.timeout > 0 {
				h.Timeout = c.timeout
			}
			begin := time.Now()
			run := runOne(t.Context(), r, h, `{"tool":"x"}`)
			if took := time.Since(begin); c.within > 0 && took > c.within {
				t.Errorf("took %s, want at most %s", took, c.within)
			}
			checkFailure(t, run, c.code, c.says)
			if run.Err == nil && run.Answer.Message != c.answers {
				t.Errorf("answer %+v", run.Answer)
			}
			p := run.Answer.PermissionResult
			if denies := strings.Contains(c.name, "denies"); denies != (p != nil && p.Behavior == agenttool.Deny) || p != nil && p.Reason != c.denies {
				t.Errorf("opinion %+v", p)
			}
		})
	}
}

func checkFailure(t *testing.T, run Run, code, says string) {
	t.Helper()
	if (run.Err == nil) != (code == "") {
		t.Fatalf("failure %v, want code %q", run.Err, code)
	}
	if run.Err == nil {
		return
	}
	if run.Err.Code != code || !errors.Is(run.Err, agenttool.HookBlocked) || !strings.Contains(run.Err.Message, says) || len(run.Err.Message) > 1500 {
		t.Errorf("failure %s %q, want %s with %q", run.Err.Code, run.Err.Message, code, says)
	}
	if !strings.Contains(run.Err.Message, run.Hook.Command[0]) || run.Record.Extra["error"] == nil {
		t.Errorf("%q does not name the hook, or the record %v does not say it", run.Err.Message, run.Record.Extra)
	}
}

// TestHookInput: the record and the subject are one object on stdin, in a line that ends, however large.
func TestHookInput(t *testing.T) {
	r, h := script(t, PostToolUse, `cat >told; echo "$TOOLHOST_HOOK_EVENT $TOOLHOST_SESSION $TOOLHOST_WORKSPACE $TERM $MINE" >environ; pwd >where`)
	h.Matcher, h.Env = Matcher{Tool: "write", Input: "Write(src)"}, map[string]string{"MINE": "yes"}
	large := strings.Repeat("x", 5<<20)
	run := runOne(t.Context(), r, h, `{"tool":"write","input":{"text":"`+large+`"}}`)
	if run.Err != nil {
		t.Fatal(run.Err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(r.o.Workspace, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var told struct {
		HookID  agenttool.HookID `json:"hook_id"`
		Event   Event            `json:"hook_event"`
		Inv     string           `json:"invocation_id"`
		Matcher Matcher
		Tool    string
		Input   struct{ Text string }
	}
	if err := json.Unmarshal([]byte(read("told")), &told); err != nil {
		t.Fatal(err)
	}
	if told.HookID != run.Record.HookID || told.Event != PostToolUse || told.Inv != "inv_1" || told.Matcher != h.Matcher || told.Tool != "write" || told.Input.Text != large {
		t.Errorf("told %.300v", told)
	}
	if !strings.HasSuffix(read("told"), "}\n") || strings.Count(read("told"), "\n") != 1 {
		t.Error("it is not one line")
	}
	if got, want := read("environ"), "post_tool_use ses_1 "+r.o.Workspace+" dumb yes\n"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
	if got := strings.TrimSpace(read("where")); got != r.o.Workspace {
		t.Errorf("it ran in %s", got)
	}
}

// TestHookWithoutTerminal: a hook leads a session of its own and has no terminal.
func TestHookWithoutTerminal(t *testing.T) {
	r, h := script(t, PreToolUse, `(: </dev/tty) 2>/dev/null && exit 1; ps -o sid= -p $$ >sid 2>/dev/null; echo $$ >pid`)
	if run := runOne(t.Context(), r, h, `{}`); run.Err != nil {
		t.Fatal(run.Err)
	}
	sid, _ := os.ReadFile(filepath.Join(r.o.Workspace, "sid"))
	pid, _ := os.ReadFile(filepath.Join(r.o.Workspace, "pid"))
	if len(sid) > 0 && string(bytes.TrimSpace(sid)) != string(bytes.TrimSpace(pid)) {
		t.Errorf("process %s is in session %s", pid, sid)
	}
}

// untilTimeout runs a hook until its timeout, which is longer each time until the hook has come to making the file ready.
func untilTimeout(t *testing.T, r *Runner, h *Hook) Run {
	t.Helper()
	ready := filepath.Join(r.o.Workspace, "ready")
	for h.Timeout = 200 * time.Millisecond; ; h.Timeout *= 2 {
		run := runOne(t.Context(), r, h, `{}`)
		checkFailure(t, run, "hook_timeout", "did not end within "+h.Timeout.String())
		if _, err := os.Stat(ready); err == nil {
			return run
		}
		if h.Timeout > hang {
			t.Fatal("the hook never comes to hanging")
		}
	}
}

// TestTimeoutTellsWhatWasSaid: of a hook that hangs one hears what it said before.
func TestTimeoutTellsWhatWasSaid(t *testing.T) {
	r, h := script(t, PreToolUse, `echo waiting >&2; : >ready; sleep 100`)
	if run := untilTimeout(t, r, h); !strings.Contains(run.Err.Message, "did not end within "+h.Timeout.String()+"; it said: waiting") {
		t.Errorf("it says %q", run.Err.Message)
	}
}

// TestTimeoutEndsTheGroup: of what a hook started in its group nothing is left after its timeout.
func TestTimeoutEndsTheGroup(t *testing.T) {
	r, h := script(t, PreToolUse, `rm -f there; (trap '' TERM; echo $$ >leader; : >there; while :; do sleep 0.05; done) & (trap '' TERM; exec sleep 100) & echo $! >child
		until [ -e there ]; do sleep 0.01; done; trap 'exit 0' TERM; : >ready; wait`)
	untilTimeout(t, r, h)
	pid := readPID(t, filepath.Join(r.o.Workspace, "child"))
	leader := readPID(t, filepath.Join(r.o.Workspace, "leader"))
	for _, p := range []int{pid, -leader} {
		for limit := time.Now().Add(hang); !errors.Is(syscall.Kill(p, 0), syscall.ESRCH); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) { // killed, it is reaped by whoever took it over
				t.Errorf("process %d is left", p)
				break
			}
		}
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	pid, convErr := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || convErr != nil || pid < 2 {
		t.Fatalf("pid %q: %v", text, err)
	}
	return pid
}

// TestCancelEndsHooks: when the call ends, those that run are ended, and the rest does not begin.
func TestCancelEndsHooks(t *testing.T) {
	r, h := script(t, PreToolUse, `echo $$ >"$PIDS/$$"; sleep 100`)
	pids := t.TempDir()
	h.Env = map[string]string{"PIDS": pids}
	hooks := make([]*Hook, 20)
	for i := range hooks {
		hooks[i] = h
	}
	runs := r.Prepare(hooks, "inv_1", "test.tool")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	go func() {
		r.Run(ctx, runs, json.RawMessage(`{}`))
		close(ended)
	}()
	for started := 0; started < maxParallel; time.Sleep(5 * time.Millisecond) {
		entries, _ := os.ReadDir(pids)
		started = len(entries)
	}
	why := errors.New("the person changed their mind")
	cancel(why)
	select {
	case <-ended:
	case <-time.After(hang):
		t.Fatal("the hooks go on")
	}
	if entries, _ := os.ReadDir(pids); len(entries) != maxParallel {
		t.Errorf("%d of 20 hooks ran, want %d", len(entries), maxParallel)
	}
	for _, run := range runs {
		if run.Err == nil || !errors.Is(run.Err, why) || run.Record.Extra["error"] == nil {
			t.Errorf("failure %v, want %v", run.Err, why)
		}
	}
}

// TestHooksRunBesideEachOther: eight hooks that wait for each other all end.
func TestHooksRunBesideEachOther(t *testing.T) {
	r, h := script(t, PreToolUse, `: >"in.$$"; n=0; until [ "$(ls in.* | wc -l)" -ge 8 ]; do n=$((n+1)); [ $n -gt 3000 ] && exit 1; sleep 0.02; done; echo '{"message":"all"}'`)
	hooks := make([]*Hook, maxParallel)
	for i := range hooks {
		hooks[i] = h
	}
	runs := r.Prepare(hooks, "inv_1", "test.tool")
	r.Run(t.Context(), runs, json.RawMessage(`{}`))
	seen := map[agenttool.HookID]bool{}
	for _, run := range runs {
		if run.Err != nil || run.Answer.Message != "all" {
			t.Errorf("answer %+v, failure %v", run.Answer, run.Err)
		}
		seen[run.Record.HookID] = true
		if run.Record.StartedAt == "" || run.Record.EndedAt == "" {
			t.Errorf("record %+v", run.Record)
		}
	}
	if len(seen) != len(runs) {
		t.Errorf("%d ids for %d runs", len(seen), len(runs))
	}
}

// TestNothingIsLeftOpen: a hundred hooks that misbehave leave no descriptor and no goroutine behind.
func TestNothingIsLeftOpen(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc/self/fd: the descriptors cannot be counted")
		}
		return len(entries)
	}
	r, bad := script(t, PreToolUse, `exec <&-; (sleep 0.05) & exit 1`)
	missing := &Hook{Event: PreToolUse, Command: []string{"./nothing"}}
	_ = runOne(t.Context(), r, bad, `{}`) // the poller opens its own
	before := count()
	for range 25 {
		_ = runOne(t.Context(), r, bad, `{}`)
		_ = runOne(t.Context(), r, missing, `{}`)
	}
	for limit := time.Now().Add(hang); count() > before; time.Sleep(time.Millisecond) { // others may have some for a moment
		if time.Now().After(limit) {
			t.Fatalf("%d descriptors before, %d after", before, count())
		}
	}
}
