package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/sandbox"
)

// TestEditBesideJob: a job holds neither locks nor a slot, whatever is known of it. What it may disturb says so.
func TestEditBesideJob(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h, mark := a.jobHost("--max-parallel", "2"), newMark(t)
		a.write("ws/unknown.sh", "sleep "+mark+"\n")
		var jobs []string
		for range 5 { // more than there are slots
			jobs = append(jobs, h.background("sh unknown.sh").Job)
		}
		jobs = append(jobs, h.run("sh unknown.sh", fields{"timeout_ms": 200}).view().Job)
		got := h.call("edit", fields{"path": "file", "old_string": "pristine", "new_string": "changed"})
		if got.Result.Status != "succeeded" || a.read("ws/file") != "changed\n" {
			t.Fatalf("edit: %s: %s", got.Result.Status, got.says())
		}
		within(t, "an edit beside jobs", got.took, 50*time.Millisecond, patience)
		if v := h.run("touch beside"); v.Result.Status != "succeeded" {
			t.Errorf("a command beside jobs: %s after %v", v.Result.Status, v.took)
		} else if !strings.Contains(v.says(), jobs[0]) {
			t.Errorf("it is not said that a job may write where a command writes: %s", v.says())
		}
		if !strings.Contains(got.says(), jobs[0]) {
			t.Errorf("it is not said that a job may write where an edit was made: %s", got.says())
		}
		for _, job := range jobs {
			h.kill(job)
		}
		if got := h.call("edit", fields{"path": "file", "old_string": "changed", "new_string": "again"}); strings.Contains(got.says(), jobs[0]) {
			t.Errorf("after their end: %s", got.says())
		}
		gone(t, "all", mark)
	})
}

// TestWaitsHoldNobodyUp: who waits for a job, however many they are, keeps nobody from reading or ending one.
func TestWaitsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h, mark := r.jobArena(t, self, sandbox.None).jobHost("--max-parallel", "2"), newMark(t)
	job, other := h.background("sleep "+mark).Job, h.background("sleep "+mark).Job
	var waits []*pendingCall
	for range 12 {
		waits = append(waits, h.start("shell_output", fields{"job": job, "until": "exit", "wait_ms": 300_000}))
	}
	for tool, input := range map[string]fields{"read": {"path": "file"}, "shell": {"command": "echo hi"}, "shell_output": {"job": other}} {
		if got := h.call(tool, input); got.Result.Status != "succeeded" { // held up, it would not be answered as long as they wait
			t.Errorf("%s beside waits: %s after %v", tool, got.Result.Status, got.took)
		}
	}
	front := []*pendingCall{h.start("shell", fields{"command": "sleep " + mark}), h.start("shell", fields{"command": "sleep " + mark})}
	h.until("they run", func() bool { return len(h.jobs()) == 4 })
	begun := time.Now()
	h.kill(other)
	h.kill(job)
	within(t, "to end jobs beside commands that take all places", time.Since(begun), 5*time.Second, patience)
	for _, wait := range waits {
		if got := wait.result(); got.view().State != "ended" {
			t.Errorf("a wait: %+v", got.view())
		}
	}
	for _, call := range front {
		h.request("agenttool/cancel", fields{"id": call.id}, &struct{}{})
		call.result()
	}
	gone(t, "all", mark)
}

// TestRulesFollowDirectory: after a move, rules allow nothing that they did not allow before.
func TestRulesFollowDirectory(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.Full)
	h := a.jobHost("--allow", "Shell(touch *)", "--allow", "Write(tree/**)", "--allow", "Write(new)")
	h.answers("deny")
	h.ran("cd tree")
	for _, command := range []string{"touch ../file", "touch tree/../../x", "touch " + a.ws + "/y"} {
		if got := h.run(command); got.Result.Status == "succeeded" || h.asked(got) != 1 {
			t.Errorf("%s: asked %d times: %s", command, h.asked(got), got.says())
		}
	}
}

// TestStatusAtAnyTime: what is asked while jobs begin and end is answered.
func TestStatusAtAnyTime(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h, over := a.jobHost(), make(chan struct{})
		h.loose = true
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
						if err := h.Request("agenttool/status", fields{}, &struct{}{}, patience); err != nil {
							t.Error(err)
							return
						}
						time.Sleep(3 * time.Millisecond) // the calls need the processor too
					}
				}
			})
		}
		for i := range count(30, 60) {
			call := h.start("shell", fields{"command": []string{"true", "sleep 5 & sleep 5", "echo x; exit 1"}[i%3]})
			if i%3 == 1 {
				time.Sleep(time.Duration(i) * 300 * time.Microsecond)
				_ = h.Request("agenttool/cancel", fields{"id": call.id}, &struct{}{}, patience)
			}
			call.result()
		}
		close(over)
		asking.Wait()
	})
}

// TestDirectoryMoves: a cd at the end of a command in the foreground moves the session, inside its roots.
func TestDirectoryMoves(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost("--add-dir", a.out)
		where := func() string { return strings.TrimSpace(h.ran("pwd").Stdout) }
		sub := filepath.Join(a.ws, "tree")
		for _, c := range []struct {
			name, command string
			how           fields
			moves         string // "" if not
			note          bool
		}{
			{"in a subshell", "(cd tree)", nil, "", false},
			{"in a child", "bash -c 'cd tree'", nil, "", false},
			{"in a pipeline", "cd tree | cat", nil, "", false},
			{"there and back", "cd tree; cd ..", nil, "", false},
			{"by cwd", "pwd", fields{"cwd": "tree"}, "", false},
			{"outside", "cd /", nil, "", true},
			{"outside by a link", "ln -sfn / away && cd away", nil, "", true},
			{"to the home", "cd; true", nil, "", exists(a, "home")},
			{"in", "cd tree", nil, sub, false},
			{"with a status", "cd " + a.ws + "; true", nil, a.ws, false},
			{"to what it makes", "mkdir -p deep/er && cd deep/er && pwd", nil, filepath.Join(a.ws, "deep/er"), false},
			{"by a link inside", "cd ../..; ln -sfn tree link; cd -P link", nil, sub, false},
			{"up again", "cd ..", nil, a.ws, false},
			{"to another root", "cd " + a.out, nil, a.out, false},
			{"back", "cd " + a.ws, nil, a.ws, false},
		} {
			before := where()
			got := h.run(c.command, c.how)
			if got.Result.Status != "succeeded" {
				t.Fatalf("%s: %s", c.name, got.says())
			}
			want := c.moves
			if want == "" {
				want = before
			}
			if now := where(); now != want {
				t.Errorf("%s: the session is in %s, want %s", c.name, now, want)
			}
			if got.moved() != c.moves {
				t.Errorf("%s: it moved the session to %q, want %q", c.name, got.moved(), c.moves)
			}
			if dropped := len(got.Result.ContextModifiers) > 0 && c.moves == ""; dropped != c.note {
				t.Errorf("%s: the records say %+v", c.name, got.Result.ContextModifiers)
			}
			if says := got.says(); c.moves != "" && !strings.Contains(says, c.moves) || c.note && !strings.Contains(says, "director") {
				t.Errorf("%s: it is not said where the session is: %s", c.name, says)
			}
		}
		job := h.background("cd tree; until [ -e went ]; do sleep 0.01; done").Job
		a.write("ws/tree/went", "")
		h.output(job, fields{"until": "exit"})
		if now := where(); now != a.ws {
			t.Errorf("a job in the background moved the session to %s", now)
		}
		job = h.run(untilGo+"cd tree", fields{"timeout_ms": 100}).view().Job
		a.write("ws/go", "")
		h.output(job, fields{"until": "exit"})
		if now := where(); now != a.ws {
			t.Errorf("a job that was detached moved the session to %s", now)
		}
	})
}

// TestDirectoryBeside: a call moves the session while an earlier one runs, for that one's start is known.
func TestDirectoryBeside(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	other := h.start("shell", fields{"command": untilGo + "true"})
	h.until("it runs", func() bool { return len(h.jobs()) == 1 })
	move := h.start("shell", fields{"command": "sleep 0.2; cd tree"})
	tree := h.a.path("ws/tree")
	if got := move.result(); got.Result.Status != "succeeded" || got.moved() != tree {
		t.Errorf("it did not move the session: %+v: %s", got.Result.ContextModifiers, got.says())
	}
	h.a.write("ws/go", "") // not before the move was made
	if got := other.result(); got.Result.Status != "succeeded" || got.moved() != "" {
		t.Errorf("the earlier call moved the session: %+v: %s", got.Result.ContextModifiers, got.says())
	}
	if now := h.ran("pwd").Stdout; now != tree+"\n" {
		t.Errorf("the session is in %s", now)
	}
}

// TestDirectoryGoes: a session whose directory was removed is not lost.
func TestDirectoryGoes(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		h.ran("mkdir gone && cd gone")
		if err := os.Remove(a.path("ws/gone")); err != nil {
			t.Fatal(err)
		}
		if got := h.run("pwd"); got.Result.Status != "succeeded" && !(strings.Contains(got.says(), "gone") && strings.Contains(got.says(), "cwd")) {
			t.Errorf("in a directory that is no more it is not said what to do: %s", got.says())
		}
		if got := h.run("pwd", fields{"cwd": a.ws}); got.Result.Status != "succeeded" || got.view().Stdout != a.ws+"\n" {
			t.Errorf("elsewhere: %s", got.says())
		}
		if got := h.run("cd tree", fields{"cwd": a.ws}); got.Result.Status != "succeeded" {
			t.Errorf("back: %s", got.says())
		}
		if now := h.ran("pwd").Stdout; now != a.path("ws/tree")+"\n" {
			t.Errorf("the session is in %q", now)
		}
	})
}

// TestEnvironmentDoesNotPersist: every command has a new shell.
func TestEnvironmentDoesNotPersist(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	h.ran("export KEPT=1 LC_ALL=POSIX; kept() { :; }; alias kept=true; umask 077; ulimit -n 64; set -e; shopt -s extglob; cd tree")
	v := h.ran(`echo "[$KEPT][$(type -t kept)][$(umask)][$-][$(ulimit -n)]"`)
	if regexp.MustCompile(`^\[1|\[function|\[alias|\[0077|e[a-zA-Z]*\]\[\d|\[64\]`).MatchString(v.Stdout) {
		t.Errorf("it kept %q", v.Stdout)
	}
	var surface struct {
		Declarations []struct{ Name, Description string }
	}
	h.request("agenttool/surface", fields{}, &surface)
	for _, d := range surface.Declarations {
		if d.Name == "shell" && (!strings.Contains(d.Description, "variables") || !strings.Contains(d.Description, "cd")) {
			t.Errorf("the description does not say what lasts: %s", d.Description)
		}
	}
}

// TestJobsBesideEachOther: output, status and end of many jobs are their own.
func TestJobsBesideEachOther(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.Full).jobHost()
	one, two := h.background("echo one; sleep 60"), h.background("echo two; sleep 60")
	h.output(one.Job, fields{"until": "match:one", "cursor": 0})
	h.output(two.Job, fields{"until": "match:two", "cursor": 0})
	h.kill(one.Job)
	if v := h.output(two.Job, fields{"cursor": 0}); v.Text != "two\n" || v.State != "running" {
		t.Errorf("the other: %+v", v)
	}
	if v := h.output(one.Job, fields{"cursor": 0}); v.Text != "one\n" || v.State != "ended" {
		t.Errorf("the one: %+v", v)
	}
	if v := h.ran("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"); strings.Contains(v.Stdout, "echo two") {
		t.Errorf("a command sees the processes of another: %q", v.Stdout)
	}
}
