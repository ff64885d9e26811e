package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
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
		{"stdin is empty", "cat; read x || echo none", "none\n", "", 0, "none\n", ""},
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
	b := newBench(t, Options{Drain: 10 * time.Millisecond})
	for _, in := range []map[string]any{
		cmd("echo hi"), cmd("exit 3"), cmd("kill -9 $$"), cmd("sleep 60 & echo hi"),
		{"command": "sleep 60", "timeout_ms": 20}, cmd("seq 20000"),
	} {
		r := b.run(t, in)
		if err := validate(t, schema(outputSchema), r.Output.Structured); err != nil {
			t.Errorf("%v: %v", in, err)
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
	tests := []struct {
		name, command string
		leftovers     int
	}{
		{"in the background", "sleep 60 & echo $! > pid; echo hi", 1},
		{"with its output elsewhere", "sleep 60 >/dev/null 2>&1 & echo $! > pid; echo hi", 1},
		{"in a group of its own", "set -m; sleep 60 >/dev/null 2>&1 & echo $! > pid; echo hi", 1},
		{"under nohup", "nohup sleep 60 >/dev/null 2>&1 & echo $! > pid; echo hi", 1},
		{"behind timeout", "timeout 60 sleep 60 >/dev/null 2>&1 & until pgrep -P $! > pid; do sleep 0.01; done; echo hi", 2},
		{"ignoring what can be", `(trap '' TERM HUP INT; echo hi; echo $BASHPID > pid; exec sleep 60) &
			until [ -s pid ]; do sleep 0.01; done`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{Drain: 20 * time.Millisecond})
			r := b.run(t, cmd(tt.command))
			if r.err != nil || r.Stdout != "hi\n" || r.exit() != 0 {
				t.Fatalf("exit %d, %v, says %q", r.exit(), r.err, r.says())
			}
			if r.DurationMS > 10_000 {
				t.Errorf("took %d ms", r.DurationMS)
			}
			said := strings.Contains(r.says(), "ended with the command: ")
			if runtime.GOOS == "linux" && (r.KilledLeftovers != tt.leftovers || !said) {
				t.Errorf("leftovers %d, want %d; says %q", r.KilledLeftovers, tt.leftovers, r.says())
			}
			if len(r.StillHeldBy) > 0 {
				t.Errorf("still held by %v", r.StillHeldBy)
			}
			gone(t, b.readPID(t, "pid"))
		})
	}
}

// What a process substitution says after the exit of its shell is still read.
func TestLateOutputIsRead(t *testing.T) {
	b := newBench(t, Options{Drain: 10 * time.Second})
	r := b.run(t, cmd("echo late > >(sleep 0.05; read line; echo $line)"))
	if r.Stdout != "late\n" || r.KilledLeftovers != 0 {
		t.Errorf("stdout %q, leftovers %d", r.Stdout, r.KilledLeftovers)
	}
}

// AT-109, AT-322: a timeout ends the whole family, whatever groups and sessions it made.
func TestTimeoutEndsTheFamily(t *testing.T) {
	tests := []struct{ name, command string }{
		{"one process", "echo $$ > pid; echo said; exec sleep 60"},
		{"grandchild", "bash -c 'bash -c \"echo \\$\\$ > pid; echo said; sleep 60; :\"; :'; :"},
		{"group of its own", "echo said; timeout 60 bash -c 'echo $$ > pid; sleep 60; :'; :"},
		{"session of its own", "echo said; setsid -w bash -c 'echo $$ > pid; sleep 60; :'; :"},
		{"ignores SIGTERM", "trap '' TERM; echo $$ > pid; echo said; while :; do sleep 1; done"},
		{"stopped", "echo $$ > pid; echo said; kill -STOP $$"},
		{"child ignores SIGTERM", "(trap '' TERM; echo $BASHPID > pid; while :; do sleep 1; done) & echo said; wait"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "own") && runtime.GOOS != "linux" {
				t.Skip("needs /proc")
			}
			t.Parallel()
			b := newBench(t, Options{Drain: 20 * time.Millisecond, Grace: 50 * time.Millisecond})
			r := b.run(t, map[string]any{"command": tt.command, "timeout_ms": 3000})
			e := want(t, r.err, agenttool.Timeout, "command_timed_out")
			if !strings.Contains(e.Message, "3s") {
				t.Errorf("message %q", e.Message)
			}
			if !r.TimedOut || r.Stdout != "said\n" || r.DurationMS < 3000 {
				t.Errorf("timed out %v after %d ms, said %q", r.TimedOut, r.DurationMS, r.Stdout)
			}
			gone(t, b.readPID(t, "pid"))
		})
	}
}

// A command that cleans up on SIGTERM has the grace for it, also when it is not the leader and holds no pipe.
func TestGraceIsForAll(t *testing.T) {
	b := newBench(t, Options{Grace: 20 * time.Second})
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

// AT-242 … AT-245, AT-108: a cancelled command ends and gives back what it said.
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
	b := newBench(t, Options{})
	reporter := &fakeReporter{}
	ctx, cancel := context.WithCancel(t.Context())
	reporter.onStep = func(agenttool.Progress) { cancel() }
	b.runWith(ctx, t, reporter, cmd(`printf 'one\ntwo\n10%%\r20%%'; echo oops >&2; sleep 60; :`))
	if len(reporter.steps) == 0 {
		t.Fatal("no progress was reported")
	}
	p := reporter.steps[0]
	if p.Message != "20%" && p.Message != "10%" {
		t.Errorf("message %q", p.Message)
	}
	if p.BytesRead != 20 || p.LineCount != 3 || p.ElapsedMS < 200 || p.Status != "running" {
		t.Errorf("progress %+v", p)
	}
	if string(p.Extra["stdout_bytes"]) != "15" || string(p.Extra["stderr_bytes"]) != "5" {
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
