package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/tools/job"
)

func TestRun(t *testing.T) {
	tests := []struct {
		name, command  string
		stdout, stderr string
		exit           int
		says           string // all text, notes included
		message        string // of the error; "" is none
	}{
		{"hello", "echo hi", "hi\n", "", 0, "hi\n", ""},
		{"nothing to say", "true", "", "", 0, "(no output)", ""},
		{"streams are separate", "echo out; echo err >&2", "out\n", "err\n", 0, "out\n[stderr]\nerr\n", ""},
		{"no newline at the end", "printf out; printf err >&2", "out", "err", 0, "out\n[stderr]\nerr", ""},
		{"only stderr", "echo err >&2", "", "err\n", 0, "err\n", ""},
		{"exit status", "echo x; exit 3", "x\n", "", 3, "x\n\n[exit status 3]", "command exited with status 3"},
		{"not found", "nosuchprogram", "", "bash: line 1: nosuchprogram: command not found\n", 127,
			"bash: line 1: nosuchprogram: command not found\n\n[exit status 127]",
			"command exited with status 127: a program was not found (see stderr)"},
		{"not executable", "/", "", "bash: line 1: /: Is a directory\n", 126,
			"bash: line 1: /: Is a directory\n\n[exit status 126]",
			"command exited with status 126: a program was found but could not be run (see stderr)"},
		{"signal", "kill -SEGV $$", "", "", -1, "(no output)\n[ended by SIGSEGV]", "command was ended by signal SIGSEGV"},
		{"signal inside", "bash -c 'kill -TERM $$'; exit $?", "", "Terminated\n", 143, "",
			"command exited with status 143: a program in it was ended by signal SIGTERM"},
		{"stdin is empty", "cat; cat && echo none", "none\n", "", 0, "none\n", ""},
		{"no terminal", "[ -t 0 -o -t 1 -o -t 2 ] || ! : 2>/dev/null </dev/tty && echo none", "none\n", "", 0, "none\n", ""},
		{"looks like an option", "-i", "", "bash: line 1: -i: command not found\n", 127, "",
			"command exited with status 127: a program was not found (see stderr)"},
		{"several lines", "a=1\necho $a\n", "1\n", "", 0, "1\n", ""},
		{"colour goes", `printf '\e[31mred\e[0m\n'`, "red\n", "", 0, "red\n", ""},
		{"environment is built", `echo "$TERM $PAGER $PWD" | sed "s|$PWD|DIR|"; echo ${SECRET-unset}`,
			"dumb cat DIR\nunset\n", "", 0, "dumb cat DIR\nunset\n", ""},
	}
	b := newBench(t, Options{Environ: []string{"PATH=" + os.Getenv("PATH"), "SECRET=x"}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := b.run(t, cmd(tt.command))
			if r.Stdout != tt.stdout || !strings.HasPrefix(r.Stderr, tt.stderr) || (tt.stderr == "" && r.Stderr != "") {
				t.Errorf("stdout %q, stderr %q; want %q, %q", r.Stdout, r.Stderr, tt.stdout, tt.stderr)
			}
			if tt.says != "" && r.says() != tt.says {
				t.Errorf("says %q, want %q", r.says(), tt.says)
			}
			if r.exit() != tt.exit {
				t.Errorf("exit %d, want %d", r.exit(), tt.exit)
			}
			if tt.message == "" {
				if r.err != nil {
					t.Errorf("error %v", r.err)
				}
				return
			}
			if e := want(t, r.err, agenttool.ExecutionFailed, "exit_status"); e.Message != tt.message {
				t.Errorf("message %q, want %q", e.Message, tt.message)
			}
		})
	}
}

// AT-276: what a run gives as structured content satisfies the tool's own output schema.
func TestStructuredSatisfiesTheSchema(t *testing.T) {
	conform.Held(t, "AT-276")
	b := newBenchOf(t, Options{}, job.Options{Drain: 10 * time.Millisecond})
	for _, in := range []map[string]any{
		cmd("echo hi"), cmd("exit 3"), cmd("kill -9 $$"), cmd("sleep 60 & echo hi"), cmd("cd /; true"),
		{"command": "sleep 60", "timeout_ms": 20}, cmd("seq 20000"), cmd("read x"), {"command": "sleep 60", "run_in_background": true},
	} {
		r := b.run(t, in)
		if err := validate(t, schema("shell_result"), r.Output.Structured); err != nil {
			t.Errorf("%v: %v", in, err)
		}
		for tool, in := range map[int]map[string]any{outputTool: {"job": r.structuredOutput.Job, "until": "match:x", "wait_ms": 0}, killTool: {"job": r.structuredOutput.Job}} {
			_, out, err := b.use(t, tool, in)
			if err != nil {
				t.Errorf("%v: %v", in, err)
			} else if err := validate(t, schema("reading"), out.Structured); err != nil {
				t.Errorf("%v: %v", in, err)
			}
		}
	}
}

func TestWorkingDirectory(t *testing.T) {
	b := newBench(t, Options{})
	sub := filepath.Join(b.dir, "a b")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sub, filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for cwd, wanted := range map[string]string{b.dir: b.dir, "a b": sub, "link": sub, "./link/..": b.dir, "~": b.dir} {
		r := b.run(t, map[string]any{"command": "pwd; pwd -P; cd /", "cwd": cwd})
		if r.Stdout != wanted+"\n"+wanted+"\n" || r.Cwd != wanted {
			t.Errorf("cwd %s: printed %q, cwd %q, want %q", cwd, r.Stdout, r.Cwd, wanted)
		}
	}
}

func TestExitIsTheEndNotTheirPipes(t *testing.T) {
	const asleep = `until read name < /proc/$!/comm && [ "$name" = sleep ]; do sleep 0.01; done; ` // and no longer the shell or nohup
	tests := []struct {
		name, command string
		held          bool
	}{
		{"in the background", "sleep 60 & echo $! > pid; " + asleep + "echo hi", true},
		{"with its output elsewhere", "sleep 60 >/dev/null 2>&1 & echo $! > pid; " + asleep + "echo hi", false},
		{"in a group of its own", "set -m; sleep 60 >/dev/null 2>&1 & echo $! > pid; " + asleep + "echo hi", false},
		{"under nohup", "nohup sleep 60 >/dev/null 2>&1 & echo $! > pid; " + asleep + "echo hi", false},
		{"in a session of its own", "setsid sleep 60 & until pgrep -s $! > pid; do sleep 0.01; done; " + asleep + "echo hi", true},
		{"ignoring what can be", `(trap '' TERM HUP INT; echo hi; echo $BASHPID > pid; exec sleep 60) &
			until [ -s pid ]; do sleep 0.01; done; ` + asleep, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBenchOf(t, Options{}, job.Options{Drain: 20 * time.Millisecond})
			r := b.run(t, cmd(tt.command))
			if r.err != nil || r.Stdout != "hi\n" || r.exit() != 0 || r.State != agenttool.JobLingering || r.Yielded {
				t.Fatalf("exit %d, %v, %s, yielded %v, says %q", r.exit(), r.err, r.State, r.Yielded, r.says())
			}
			if !strings.Contains(r.says(), "goes on as job j1 (sleep)") || r.structuredOutput.Job != "j1" || r.Output.Job == nil {
				t.Errorf("job %s, says %q", r.structuredOutput.Job, r.says())
			}
			pid := b.readPID(t, "pid")
			if held := len(r.StillHeldBy) == 1 && r.StillHeldBy[0].PID == pid; held != tt.held {
				t.Errorf("still held by %v, want process %d: %v", r.StillHeldBy, pid, tt.held)
			}
			got, _, err := b.use(t, killTool, map[string]any{"job": "j1", "grace_ms": 50})
			if err != nil || got.State != agenttool.JobEnded {
				t.Errorf("killed: %s, %v", got.State, err)
			}
			gone(t, pid)
		})
	}
}

// What a process substitution says after the exit of its shell is still read.
func TestLateOutputIsRead(t *testing.T) {
	b := newBenchOf(t, Options{}, job.Options{Drain: time.Minute})
	r := b.run(t, cmd("echo late > >(sleep 0.05; read line; echo $line)"))
	if r.Stdout != "late\n" || r.State != agenttool.JobEnded {
		t.Errorf("stdout %q, %s", r.Stdout, r.State)
	}
}

// untilSaid runs a command until its time is over, which is longer each time until the command has come to saying something.
func (b *bench) untilSaid(t testing.TB, line string) result {
	t.Helper()
	for ms := 200; ; ms *= 2 {
		r := b.run(t, map[string]any{"command": line, "timeout_ms": ms})
		if r.Stdout != "" || ms > 60_000 {
			return r
		}
		if _, _, err := b.use(t, killTool, map[string]any{"job": r.structuredOutput.Job}); err != nil {
			t.Fatal(err)
		}
	}
}

// AT-105, AT-456: when its time is over a command is handed over, and not ended.
func TestDetached(t *testing.T) {
	b := newBench(t, Options{})
	r := b.untilSaid(t, "echo one; until [ -e go ]; do sleep 0.01; done; echo two; sleep 0.3; exit 7")
	if r.Output.Bytes != 4 || r.Cursor != 4 {
		t.Errorf("the result has the first %d bytes of the output, cursor %d", r.Output.Bytes, r.Cursor)
	}
	if r.err != nil || !r.Yielded || r.State != agenttool.JobRunning || r.Stdout != "one\n" || r.exit() != -1 || r.TimedOut {
		t.Fatalf("%v, yielded %v, %s, exit %d, said %q", r.err, r.Yielded, r.State, r.exit(), r.Stdout)
	}
	if !strings.Contains(r.says(), "still running as job "+r.structuredOutput.Job) {
		t.Errorf("says %q", r.says())
	}
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, err := b.use(t, outputTool, map[string]any{"job": r.structuredOutput.Job, "until": "exit"})
	if err != nil || got.Text != "two\n" || got.State != agenttool.JobEnded || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A command that cleans up on SIGTERM has the grace for it, also when it is not the leader and holds no pipe.
func TestGraceIsForAll(t *testing.T) {
	b := newBenchOf(t, Options{}, job.Options{Grace: 20 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	reporter := &fakeReporter{onStep: func(p agenttool.Progress) {
		if p.Message == "ready" {
			cancel()
		}
	}}
	r := b.runWith(ctx, t, reporter, cmd(`
		bash -c 'trap "sleep 0.1; echo clean > done; exit" TERM
			echo ready; exec >/dev/null 2>&1; while :; do sleep 0.01; done'
		echo unreachable`))
	if !errors.Is(r.err, context.Canceled) || r.Stdout != "ready\n" {
		t.Errorf("error %v, stdout %q", r.err, r.Stdout)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "done")); err != nil {
		t.Error("the child was killed before it had cleaned up")
	}
	if r.DurationMS > 15_000 {
		t.Errorf("took %d ms: the grace was waited for though nobody needed it", r.DurationMS)
	}
}

// A cancelled command ends and gives back what it said.
func TestCancel(t *testing.T) {
	b := newBench(t, Options{})
	reason := errors.New("user interruption")
	ctx, cancel := context.WithCancelCause(t.Context())
	reporter := &fakeReporter{onStep: func(p agenttool.Progress) {
		if p.Message == "said" {
			cancel(reason)
		}
	}}
	r := b.runWith(ctx, t, reporter, cmd("echo $$ > pid; echo said; sleep 60; :"))
	if !errors.Is(r.err, reason) || r.Stdout != "said\n" || r.TimedOut {
		t.Errorf("error %v, stdout %q", r.err, r.Stdout)
	}
	gone(t, b.readPID(t, "pid"))

	out, err := b.bind(t, cmd("touch ran")).Run(ctx, reporter)
	if !errors.Is(err, reason) || out.Content != nil {
		t.Errorf("a call that was cancelled before it began gave %v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// AT-241, AT-398: progress says how long, how much and what last.
func TestProgress(t *testing.T) {
	conform.Held(t, "AT-232", "AT-241", "AT-398")
	b := newBench(t, Options{})
	reporter := &fakeReporter{}
	ctx, cancel := context.WithCancel(t.Context())
	reporter.onStep = func(p agenttool.Progress) {
		if p.BytesRead >= 20 { // else the command is not that far yet
			cancel()
		}
	}
	b.runWith(ctx, t, reporter, cmd(`printf 'one\ntwo\n10%%\r20%%'; echo oops >&2; sleep 60; :`))
	if len(reporter.steps) == 0 {
		t.Fatal("no progress was reported")
	}
	p := reporter.steps[len(reporter.steps)-1]
	if p.Message != "20%" && p.Message != "oops" { // whichever pipe was read last
		t.Errorf("message %q", p.Message)
	}
	if p.TaskID != "j1" || p.BytesRead != 20 || p.LineCount != 3 || p.ElapsedMS < 200 || p.Status != "running" {
		t.Errorf("progress %+v", p)
	}
	if string(p.Extra["stdout_bytes"]) != "15" || string(p.Extra["stderr_bytes"]) != "5" || string(p.Extra["timeout_ms"]) != "120000" {
		t.Errorf("extra %s", p.Extra)
	}
}

// BenchmarkEcho is a whole call. BenchmarkBareBash is what it cannot be faster than.
func BenchmarkEcho(b *testing.B) {
	bench := newBench(b, Options{})
	raw := json.RawMessage(`{"command":"echo hi"}`)
	for b.Loop() {
		c, err := bench.tool.Bind(bench.scope, raw)
		if err != nil {
			b.Fatal(err)
		}
		if err := bench.w.Locate(c.Facts().Dir); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Run(b.Context(), &fakeReporter{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBareBash(b *testing.B) {
	for b.Loop() {
		p, err := os.StartProcess("/bin/bash", []string{"bash", "--norc", "-c", "true"}, &os.ProcAttr{Env: []string{}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

// A limit of all jobs ends what takes longer, whoever waits for it.
func TestTimeLimitOfAllJobs(t *testing.T) {
	var b *bench
	var r result
	for limit := 200 * time.Millisecond; limit < time.Minute; limit *= 2 {
		b = newBenchOf(t, Options{}, job.Options{Limit: limit, Grace: 50 * time.Millisecond})
		r = b.run(t, cmd("echo said; echo $$ > pid; exec sleep 600"))
		want(t, r.err, agenttool.Timeout, "job_limit")
		if info, err := os.Stat(filepath.Join(b.dir, "pid")); err == nil && info.Size() > 0 {
			break // else the limit came before the command was that far
		}
	}
	if !r.TimedOut || r.Stdout != "said\n" || r.State != agenttool.JobEnded {
		t.Errorf("timed out %v, %s, said %q", r.TimedOut, r.State, r.Stdout)
	}
	gone(t, b.readPID(t, "pid"))
}

// What is waited for may have been told by the result of the command itself.
func TestMatchOfReports(t *testing.T) {
	b := newBench(t, Options{})
	r := b.untilSaid(t, "echo ready; sleep 600")
	if r.Stdout != "ready\n" {
		t.Fatalf("said %q", r.Stdout)
	}
	for i, want := range []bool{true, false} { // the second asks for another one
		got, _, err := b.use(t, outputTool, map[string]any{"job": r.structuredOutput.Job, "until": "match:ready", "wait_ms": 100})
		if err != nil || got.Matched == nil || *got.Matched != want {
			t.Errorf("reading %d: %+v, %v; want matched %v", i+1, got, err, want)
		}
	}
}

// While it is looked at what a command left behind, nobody is told that all is over.
func TestLingeringIsNotEnded(t *testing.T) {
	b := newBench(t, Options{})
	b.run(t, map[string]any{"command": "sleep 600 & sleep 0.1; echo bye", "run_in_background": true})
	seen := map[agenttool.JobState]bool{}
	limit := time.Now().Add(time.Minute)
	for more := 100; more > 0 && time.Now().Before(limit); { // once it lingers it goes on to
		if seen[agenttool.JobLingering] {
			more--
		}
		got, _, err := b.use(t, outputTool, map[string]any{"job": "j1"})
		if err != nil {
			t.Fatal(err)
		}
		seen[got.State] = true
		if s := b.jobs.List()[0]; s.State == agenttool.JobRunning && s.ExitCode != nil {
			t.Errorf("it runs, and has the exit code %d", *s.ExitCode)
		}
	}
	if seen[agenttool.JobEnded] || !seen[agenttool.JobLingering] {
		t.Errorf("states %v", seen)
	}
}

// Whoever ends a job takes nothing of its output from those who read it.
func TestKillReadsNothing(t *testing.T) {
	b := newBench(t, Options{})
	b.run(t, map[string]any{"command": "sleep 0.2; seq 20000; sleep 60", "run_in_background": true})
	if _, _, err := b.use(t, outputTool, map[string]any{"job": "j1", "until": "match:^20000$", "cursor": 0}); err != nil {
		t.Fatal(err)
	}
	killed, _, err := b.use(t, killTool, map[string]any{"job": "j1"})
	if err != nil || !strings.HasSuffix(killed.Text, "\n19999\n20000\n") {
		t.Errorf("%v: it said last %.40q", err, killed.Text)
	}
	if got, _, err := b.use(t, outputTool, map[string]any{"job": "j1"}); err != nil || !strings.HasPrefix(got.Text, "1\n2\n") {
		t.Errorf("%v: then one reads %.40q", err, got.Text)
	}
}

// A match is looked for to the end of what there is, however short the wait.
func TestMatchWithoutWait(t *testing.T) {
	b := newBench(t, Options{})
	b.run(t, cmd("echo hi there"))
	got, _, err := b.use(t, outputTool, map[string]any{"job": "j1", "until": "match:hi", "wait_ms": 0})
	if err != nil || got.Matched == nil || !*got.Matched {
		t.Errorf("%+v, %v", got, err)
	}
}
