package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/sandbox"
)

// socketsOf are those of an attempt's runtime and state directories.
func socketsOf(a *escapeAttempt) (found []string) {
	for _, dir := range []string{a.run, filepath.Join(a.state, "toolhost")} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type() == fs.ModeSocket {
				found = append(found, path)
			}
			return nil
		})
	}
	return found
}

// jobsCommand is toolhost jobs in another terminal of the attempt's account.
func (a *escapeAttempt) jobsCommand(args ...string) *exec.Cmd {
	return a.command(append([]string{a.toolhost, "jobs"}, args...)...)
}

// TestJobsCommand: a person sees, follows and ends the jobs of a session from another terminal.
func TestJobsCommand(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, who := range accounts(t) {
		for _, level := range []sandbox.Level{sandbox.Full, sandbox.None} {
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				a := r.jobArena(t, who, level)
				h, mark := a.jobHost(), newMark(t)
				if found := socketsOf(a); len(found) > 0 {
					t.Errorf("before the first job: %q", found)
				}
				job := h.background("echo early; while [ ! -e go ]; do sleep 0.05; done; echo late; sleep " + mark).Job
				other := h.background("sleep " + mark).Job
				of := "--session=" + h.session // sessions of others may run, whose sockets are where there is room
				for _, args := range [][]string{nil, {"list"}, {"list", of}} {
					said, code := a.said(a.jobsCommand(args...))
					if code != 0 || !strings.Contains(said, job) || !strings.Contains(said, other) || !strings.Contains(said, "echo early") {
						t.Errorf("jobs %v: exit %d: %s", args, code, said)
					}
				}
				checkSocket(t, a)
				h.output(job, fields{"cursor": 0, "until": "match:early"}) // it has begun
				if said, code := a.said(a.jobsCommand("tail", job, of)); code != 0 || !strings.Contains(said, "early\n") {
					t.Errorf("tail: exit %d: %s", code, said)
				}
				follow(t, a, h, job)
				if said, code := a.said(a.jobsCommand("kill", other, of)); code != 0 {
					t.Errorf("kill: exit %d: %s", code, said)
				}
				h.until("the killed job ends", func() bool { return h.job(other) == nil })
				if said, code := a.said(a.jobsCommand("tail", other, of)); code != 0 {
					t.Errorf("tail of an ended job: exit %d: %s", code, said)
				}
				if said, code := a.said(a.jobsCommand("kill", "j99", of)); code == 0 || !strings.Contains(said, "j99") {
					t.Errorf("kill of no job: exit %d: %s", code, said)
				}
				if said, code := a.said(a.jobsCommand("list", "--session", "ses_nobody")); code == 0 || said == "" {
					t.Errorf("jobs of no session: exit %d: %s", code, said)
				}
				h.close()
				if found := socketsOf(a); len(found) > 0 {
					t.Errorf("after the end: %q", found)
				}
				if said, code := a.said(a.jobsCommand()); strings.Contains(said, "early") || strings.Contains(said, "panic") {
					t.Errorf("jobs after the end: exit %d: %s", code, said)
				}
				gone(t, "after the end", mark)
			})
		}
	}
}

// checkSocket checks that the session's socket is one that only its owner can use.
func checkSocket(t *testing.T, a *escapeAttempt) {
	t.Helper()
	found := socketsOf(a)
	if len(found) != 1 || filepath.Dir(found[0]) != filepath.Join(a.run, "toolhost") || !strings.HasSuffix(found[0], ".sock") {
		t.Fatalf("the sockets are %q", found)
	}
	for path, most := range map[string]fs.FileMode{found[0]: 0o600, filepath.Dir(found[0]): 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != most {
			t.Errorf("%s has mode %v, want %v: %v", path, info.Mode(), most, err)
		}
	}
}

// follow reads a job's output as it comes, until the job ends.
func follow(t *testing.T, a *escapeAttempt, h *jobHost, job string) {
	t.Helper()
	cmd := a.jobsCommand("tail", job, "-f", "--session", h.session)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	next := func() string {
		if lines.Scan() {
			return lines.Text()
		}
		return "(the end)"
	}
	if line := next(); line != "early" {
		t.Errorf("tail -f begins with %q", line)
	}
	a.write("ws/go", "")
	if line := next(); line != "late" {
		t.Errorf("tail -f goes on with %q", line)
	}
	h.kill(job)
	for line := next(); line != "(the end)"; line = next() { // it ends, or the limit of the command ends the test
		t.Logf("tail -f said: %s", line)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("tail -f: %v", err)
	}
}

// TestJobsSocketIsNobodyElses: no command reaches the socket from its sandbox, and no other account does.
func TestJobsSocketIsNobodyElses(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	r := probedDesk(t)
	for _, who := range accounts(t) {
		for _, level := range r.levels(t, who) {
			if level == sandbox.None {
				continue
			}
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				a := r.jobArena(t, who, level)
				h, mark := a.jobHost(), newMark(t)
				h.background("sleep " + mark)
				found := socketsOf(a)
				if len(found) != 1 {
					t.Fatalf("the sockets are %q", found)
				}
				v := h.run(`python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print("REACHED")' ` + found[0] + `; ls -l ` + filepath.Dir(found[0])).view()
				if strings.Contains(v.Stdout, "REACHED") || level == sandbox.Full && strings.Contains(v.Stdout, ".sock") {
					t.Errorf("a command reaches the socket: %q %q", v.Stdout, v.Stderr)
				}
				if said, _ := a.said(a.jobsCommand()); !strings.Contains(said, mark) {
					t.Errorf("its owner does not: %s", said)
				}
			})
		}
	}
	t.Run("another account", func(t *testing.T) {
		who := accounts(t)
		if len(who) < 2 {
			t.Skip("the test is nobody else")
		}
		a := r.jobArena(t, self, sandbox.None)
		a.jobHost().background("sleep " + newMark(t))
		path := socketsOf(a)[0]
		for dir := filepath.Dir(path); dir != a.dir; dir = filepath.Dir(dir) { // even where the directories let it pass
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := a.command("/usr/bin/python3", "-c", `
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1])
s.sendall(b'{"method":"list"}\n{"op":"list"}\n'); print(s.recv(4096))`, path)
		cmd.SysProcAttr.Credential = who[1].id
		if said, _ := a.said(cmd); strings.Contains(said, "sleep") || strings.Contains(said, `"j1"`) {
			t.Errorf("another account is told: %s", said)
		}
	})
}

// TestJobsSocketHoldsNobodyUp: who connects and says nothing, or too much, or goes away, delays neither jobs nor the host's end.
func TestJobsSocketHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	h, mark := a.jobHost(), newMark(t)
	h.background("yes | head -c 3000000; sleep " + mark)
	path := socketsOf(a)[0]
	files := descriptors(t, h.Cmd.Process.Pid)
	for i := range 200 {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Logf("connection %d: %v", i, err) // too many may be refused
			break
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(2 * time.Second))
		if i%2 == 0 {
			_, _ = c.Write([]byte(strings.Repeat("x", 1<<17)))
		}
	}
	got := h.run("echo hi")
	if within(t, "a command beside them", got.took, 5*time.Second, patience); got.Result.Status != "succeeded" {
		t.Errorf("a command beside them: %s", got.Result.Status)
	}
	follower := a.jobsCommand("tail", "j1", "-f") // reads nothing
	out, err := follower.StdoutPipe()
	if err == nil {
		err = follower.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer func() { _ = follower.Process.Kill(); _ = follower.Wait() }()
	time.Sleep(300 * time.Millisecond)
	begun := time.Now()
	h.close()
	within(t, "the end beside them", time.Since(begun), 5*time.Second, patience)
	t.Logf("descriptors before: %d", files)
	gone(t, "the end", mark)
}

// TestStaleSocket: what a killed host left does not keep anybody from anything.
func TestStaleSocket(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	dead := a.jobHost()
	dead.background("sleep " + newMark(t))
	dead.murder()
	for _, path := range socketsOf(a) { // one that is younger may be just being made
		if old := time.Now().Add(-time.Minute); os.Chtimes(path, old, old) != nil {
			t.Fatalf("the time of %s cannot be set", path)
		}
	}
	begun := time.Now()
	if said, _ := a.said(a.jobsCommand()); strings.Contains(said, "panic") {
		t.Errorf("jobs of a killed host: %s", said)
	}
	within(t, "jobs of a killed host", time.Since(begun), 10*time.Second, patience)
	h, mark := a.jobHost(), newMark(t)
	job := h.background("sleep " + mark).Job
	if said, code := a.said(a.jobsCommand()); code != 0 || !strings.Contains(said, mark) {
		t.Errorf("jobs of the host after it: exit %d: %s", code, said)
	}
	second, secondMark := a.jobHost(), newMark(t)
	second.background("sleep " + secondMark)
	if said, _ := a.said(a.jobsCommand("list", "--session", h.session)); !strings.Contains(said, mark) || strings.Contains(said, secondMark) {
		t.Errorf("of two sessions the first: %s", said)
	}
	if said, _ := a.said(a.jobsCommand("list")); !strings.Contains(said, secondMark) {
		t.Errorf("of two sessions the newest: %s", said)
	}
	if said, code := a.said(a.jobsCommand("kill", job, "--session", h.session)); code != 0 {
		t.Errorf("kill: %s", said)
	}
	gone(t, "kill", mark)
	h.close()
	second.close()
	if found := socketsOf(a); len(found) > 0 {
		t.Errorf("left: %q", found)
	}
}

// TestNoRuntimeDirectory: without one, jobs run, and can be listed.
func TestNoRuntimeDirectory(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, account{name: "self"}, sandbox.None)
	for i, entry := range a.env {
		if strings.HasPrefix(entry, "XDG_RUNTIME_DIR=") {
			a.env[i] = "XDG_RUNTIME_DIR=" + a.path(strings.Repeat("long/", 30)) // longer than an address can be, and not there
		}
	}
	h, mark := a.jobHost(), newMark(t)
	h.background("sleep " + mark)
	if got := h.ran("echo hi"); got.Stdout != "hi\n" {
		t.Errorf("%+v", got)
	}
	if said, code := a.said(a.jobsCommand()); code != 0 || !strings.Contains(said, mark) {
		t.Logf("jobs: exit %d: %s", code, said)
	}
	h.close()
	gone(t, "the end", mark)
}

// TestStatusOfJobs lists those that have not ended, with all that there is to say of them.
func TestStatusOfJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	somewhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h, mark := a.jobHost(), newMark(t)
		var empty struct{ Jobs *[]jobView }
		if h.request("agenttool/status", fields{}, &empty); empty.Jobs == nil || len(*empty.Jobs) != 0 {
			t.Errorf("without jobs: %v", empty.Jobs)
		}
		running := h.run("echo one; echo two; sleep "+mark, fields{"run_in_background": true, "cwd": "tree"})
		lingering := h.ran("sleep " + mark + " & echo three")
		h.ran("true") // has ended
		h.until("both are listed, with their output", func() bool {
			jobs := h.jobs()
			return len(jobs) == 2 && jobs[0].Lines == 2
		})
		time.Sleep(50 * time.Millisecond)
		jobs := h.jobs()
		if j := jobs[0]; j.Job != "j1" || j.InvocationID != running.Invocation.InvocationID || j.State != "running" || j.Bytes != 8 || j.LastLine != "two" ||
			j.Cwd != a.path("ws/tree") || j.AgeMS < 50 || j.AgeMS > 60_000 || j.ExitCode != nil || syscall.Kill(j.PID, 0) != nil {
			t.Errorf("a running one: %+v", j)
		}
		if j := jobs[1]; j.Job != lingering.Job || j.State != "lingering" || j.ExitCode == nil || *j.ExitCode != 0 || j.LastLine != "three" {
			t.Errorf("a lingering one: %+v", j)
		}
		h.kill("j1")
		if jobs = h.jobs(); len(jobs) != 1 {
			t.Errorf("after a kill: %+v", jobs)
		}
		for _, pid := range marked(mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		h.until("the last process of a lingering one is gone", func() bool { return len(h.jobs()) == 0 })
		if v := h.output(lingering.Job, fields{"cursor": 0}); v.State != "ended" || v.Text != "three\n" {
			t.Errorf("after that: %+v", v)
		}
	})
}

// TestLingeringOutput: what a leftover says later is read like the rest.
func TestLingeringOutput(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		v := h.ran("(" + untilGo + "echo later; sleep 0.1) & echo now")
		if v.Stdout != "now\n" || v.State != "lingering" {
			t.Fatalf("%+v", v)
		}
		a.write("ws/go", "")
		if got := h.output(v.Job, fields{"until": "match:later"}); got.Text != "later\n" || got.ExitCode == nil || *got.ExitCode != 0 {
			t.Errorf("later: %+v", got)
		}
		h.until("it ends", func() bool { return h.output(v.Job).State == "ended" })
		if said := fmt.Sprint(h.output(v.Job, fields{"cursor": 0}).Text); said != "now\nlater\n" {
			t.Errorf("the whole: %q", said)
		}
	})
}
