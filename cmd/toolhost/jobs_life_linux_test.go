package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox"
	"toolhost/testdata/support/conform"
)

// checkYielded checks the records of a call that was answered while its job runs.
func checkYielded(t *testing.T, h *jobHost, r *jobReply, says string) {
	t.Helper()
	if r.Result.Status != "partial_succeeded" || r.Result.IsError || r.Invocation.Status != "yielded" {
		t.Errorf("result %s, is_error %v, invocation %s: %s", r.Result.Status, r.Result.IsError, r.Invocation.Status, r.says())
	}
	if s := r.Invocation.Scheduler; s == nil || s.QueueState != "yielded" {
		t.Errorf("scheduler %+v", s)
	}
	if v := r.view(); v.ExitCode != nil || v.TimedOut || v.Job == "" {
		t.Errorf("structured content %+v", v)
	}
	if text := r.says(); !strings.Contains(text, says) || !strings.Contains(text, r.view().Job) || strings.Contains(text, "timed out") {
		t.Errorf("the text is %q, want %q of %s", text, says, r.view().Job)
	}
	h.event("yielded", func(e jobEvent) bool {
		return e.Type == "tool.invocation.yielded" && e.InvocationID == r.Invocation.InvocationID
	})
}

// untilGo has a command go on when the test writes the file "go": what is looked at before that is there however slow the machine is.
const untilGo = "while [ ! -e go ]; do sleep 0.05; done; "

// limits are the milliseconds that a command gets that is to have begun by then, the next where it has not: busy machines take seconds to
// start one.
var limits = []int{1000, 5000, 20_000, 50_000}

// TestDetached: a command that takes longer than its limit goes on as a job, and is neither killed nor lost.
func TestDetached(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		var got *jobReply
		for _, limit := range limits {
			got = h.run("echo early; "+untilGo+"echo late; exit 7", fields{"timeout_ms": limit})
			checkYielded(t, h, got, "still running")
			within(t, "to give control back", got.took, time.Duration(limit+500)*time.Millisecond, time.Duration(limit)*time.Millisecond+patience)
			if got.view().Stdout != "" {
				break
			}
			h.kill(got.view().Job) // it has said nothing yet
		}
		v := got.view()
		if v.State != "running" || v.Stdout != "early\n" || v.Cursor != 6 {
			t.Errorf("%+v", v)
		}
		a.write("ws/go", "")
		end := h.output(v.Job, fields{"until": "exit"})
		if end.Text != "late\n" || end.State != "ended" || end.ExitCode == nil || *end.ExitCode != 7 || end.Cursor != 6 {
			t.Errorf("at its end: %+v", end)
		}
		checkOneExit(t, h, v.Job, got, "failed", 7, "late")
	})
}

// checkOneExit checks that a job's end was announced, once, with how it ended.
func checkOneExit(t *testing.T, h *jobHost, job string, of *jobReply, status string, code float64, last string) {
	t.Helper()
	e := h.event("exit of "+job, func(e jobEvent) bool { return e.exit(job) })
	p := e.Data.Progress
	if e.InvocationID != of.Invocation.InvocationID || p["status"] != status {
		t.Errorf("the exit of %s: invocation %s, %v", job, e.InvocationID, p)
	}
	if code >= 0 && p["exit_code"] != code || code < 0 && p["signal"] == nil {
		t.Errorf("the exit of %s: %v, want code %v", job, p, code)
	}
	if text := fmt.Sprint(p["message"], p["last_line"]); !strings.Contains(text, last) {
		t.Errorf("the exit of %s: %v, want the last line %q", job, p, last)
	}
	time.Sleep(400 * time.Millisecond) // longer than any interval of progress
	h.output(job, fields{"cursor": 0})
	if n := h.counted(func(e jobEvent) bool { return e.exit(job) }); n != 1 {
		t.Errorf("the exit of %s was announced %d times", job, n)
	}
}

// TestBackground: in the background a command returns at once, and its end is told once, also to who waits for it.
func TestBackground(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		h.ran("true")                           // what a first command costs
		got := h.run(untilGo+"echo bye", aside) // who waits for its end waits for ever
		checkYielded(t, h, got, "running")
		within(t, "a start in the background", got.took, 50*time.Millisecond, patience)
		if j := h.job(got.view().Job); j == nil || j.InvocationID != got.Invocation.InvocationID || j.State != "running" || j.PID <= 0 ||
			!strings.Contains(j.Command, "echo bye") || j.Cwd != a.ws {
			t.Errorf("status says %+v", j)
		}
		a.write("ws/go", "")
		checkOneExit(t, h, got.view().Job, got, "completed", 0, "bye") // nobody waited

		got = h.run("sleep 0.5; echo gone; exit 2", aside)
		if v := h.output(got.view().Job, fields{"until": "exit"}); v.ExitCode == nil || *v.ExitCode != 2 {
			t.Errorf("waited for: %+v", v)
		}
		checkOneExit(t, h, got.view().Job, got, "failed", 2, "gone")

		got = h.run("echo last; sleep 60", aside)
		h.output(got.view().Job, fields{"until": "match:last", "cursor": 0})
		h.kill(got.view().Job)
		checkOneExit(t, h, got.view().Job, got, "canceled", -1, "last")

		got = h.run("echo in time", fields{"timeout_ms": 20000})
		time.Sleep(300 * time.Millisecond)
		if n := h.counted(func(e jobEvent) bool { return e.exit(got.view().Job) }); n != 0 {
			t.Errorf("the end of a command that was answered when it had ended was announced %d times", n)
		}
		if left := h.jobs(); len(left) != 0 {
			t.Errorf("status lists %+v", left)
		}
	})
}

// TestJobIsInTheLog: the log says of a job that its call yielded and, once, how it ended, also if nobody listens.
func TestJobIsInTheLog(t *testing.T) {
	conform.Held(t, "AT-237", "AT-238", "AT-239", "AT-241")
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	h := a.jobHost()
	h.request("agenttool/hello", fields{"client": fields{"name": "deaf", "version": "1"}, "events": "none", "approvals": true}, &struct{}{})
	job := h.background("until [ -e go ]; do sleep 0.01; done; exit 6").Job
	a.write("ws/go", "")
	h.until("it has ended", func() bool { return h.job(job) == nil })
	done := h.background("until [ -e gone ]; do sleep 0.01; done").Job
	a.write("ws/gone", "")
	h.until("it has ended", func() bool { return h.job(done) == nil })
	left := h.background("sleep 60").Job // ended by the end of the host
	h.close()
	log, err := os.ReadFile(filepath.Join(a.state, "toolhost", "sessions", h.session, "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	count := func(words ...string) (n int) {
	lines:
		for line := range strings.Lines(string(log)) {
			for _, word := range words {
				if !strings.Contains(line, word) {
					continue lines
				}
			}
			n++
		}
		return n
	}
	if n := count(`"tool.invocation.yielded"`); n != 3 {
		t.Errorf("%d calls yielded", n)
	}
	if n := count(`"tool.invocation.progress"`, `"task_id":"`+done+`"`, `"status":"completed"`, `"exit_code":0`); n != 1 {
		t.Errorf("the exit of %s is in the log %d times", done, n)
	}
	if n := count(`"tool.invocation.progress"`, `"task_id":"`+job+`"`, `"status":"failed"`, `"exit_code":6`); n != 1 {
		t.Errorf("the exit of %s is in the log %d times", job, n)
	}
	if n := count(`"tool.invocation.progress"`, `"task_id":"`+left+`"`, `"status":"canceled"`); n != 1 {
		t.Errorf("the exit of %s is in the log %d times", left, n)
	}
	if said, code := a.said(a.command(a.toolhost, "log", "verify", h.session)); code != 0 {
		t.Errorf("log verify: %s", said)
	}
}

// TestLogShowNamesJobsOfAKilledHost: of each job that died with its host log show says what it ran and when it began, also where the call
// had no result yet; of one that ended before it says nothing more.
func TestLogShowNamesJobsOfAKilledHost(t *testing.T) {
	t.Parallel()
	a := jobTools(t).jobArena(t, self, sandbox.None)
	h := a.jobHost()
	ended := h.background("until [ -e go ]; do sleep 0.01; done; exit 6").Job
	a.write("ws/go", "")
	h.until("it has ended", func() bool { return h.job(ended) == nil })
	left := h.background("sleep 61").Job
	long := h.background(": " + strings.Repeat("x", 10_000) + "; sleep 62").Job
	h.start("shell", shellInput("sleep 63"))
	awaited := h.event("the progress of a call that waits", func(e jobEvent) bool { return e.Data.Progress["status"] == "running" })
	h.murder()
	said, code := a.said(a.command(a.toolhost, "log", "show", h.session))
	if code != 0 {
		t.Fatal(said)
	}
	for _, want := range []string{
		`(?m)^[0-9:.]{12}  \S+ +shell +job ` + left + ` died with the host: sleep 61$`,
		`(?m)^[0-9:.]{12}  \S+ +shell +job ` + long + ` died with the host: the command in \S+$`,
		`(?m)^[0-9:.]{12}  \S+ +shell +the host died: sleep 63, job ` + awaited.Data.Progress["task_id"].(string) + ` \(inv_\w+\)$`,
	} {
		if !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("no line %s in\n%s", want, said)
		}
	}
	if n := strings.Count(said, "died with the host"); n != 2 {
		t.Errorf("%d jobs died:\n%s", n, said)
	}
}

// TestProgressOfJobs comes while they run, at most four times a second, and says what is needed to follow them.
func TestProgressOfJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	call := h.start("shell", fields{"command": "while [ ! -e go ]; do echo line; echo err >&2; sleep 0.01; done"})
	running := func(e jobEvent) bool {
		return e.Type == "tool.invocation.progress" && e.Data.Progress["status"] == "running" // the only job
	}
	h.until("there are three records of progress", func() bool { return h.counted(running) >= 3 })
	h.a.write("ws/go", "")
	got := call.result()
	job, n := got.view().Job, h.counted(func(e jobEvent) bool { return running(e) && e.InvocationID == got.Invocation.InvocationID })
	if most := int(got.took/(250*time.Millisecond)) + 1; n < 3 || n > most {
		t.Errorf("%d records of progress in %v, want 3 … %d", n, got.took, most)
	}
	p := h.event("progress", running).Data.Progress
	for _, name := range []string{"elapsed_ms", "stdout_bytes", "stderr_bytes", "line_count", "task_id", "message"} {
		if p[name] == nil {
			t.Errorf("progress has no %s: %v", name, p)
		}
	}
	if p["task_id"] != job {
		t.Errorf("progress is of %v, want %s", p["task_id"], job)
	}
}

// TestShellKill: TERM, then KILL, to everything; a signal of one's choice; and what there was to say.
func TestShellKill(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		polite := h.background(`trap 'echo cleaned up; exit 0' TERM; echo up; while :; do sleep 0.05; done`)
		h.output(polite.Job, fields{"until": "match:up", "cursor": 0})
		if v := h.kill(polite.Job, fields{"grace_ms": 50_000}); !strings.Contains(v.Text, "cleaned up") || v.ExitCode == nil || *v.ExitCode != 0 {
			t.Errorf("who cleans up: %+v", v)
		}
		mark := newMark(t)
		deaf := h.background(`trap '' TERM; echo up; (sleep ` + mark + `); while :; do sleep ` + mark + `; done`)
		h.output(deaf.Job, fields{"until": "match:up", "cursor": 0})
		h.until("it sleeps", func() bool { return sleeping(mark) })
		asked := time.Now()
		v := h.kill(deaf.Job, fields{"grace_ms": 500})
		if took := time.Since(asked); !strings.HasSuffix(v.Signal, "KILL") || took < 400*time.Millisecond || took > patience {
			t.Errorf("who is deaf: after %v, %+v", took, v)
		}
		gone(t, "who is deaf", mark)
		signaled := h.background(`trap 'echo hup; exit 9' HUP; echo up; while :; do sleep 0.05; done`)
		h.output(signaled.Job, fields{"until": "match:up", "cursor": 0})
		if v := h.kill(signaled.Job, fields{"signal": "HUP", "grace_ms": 50_000}); v.ExitCode == nil || *v.ExitCode != 9 || !strings.Contains(v.Text, "hup") {
			t.Errorf("who is told HUP: %+v", v)
		}
		killed := h.background(`trap 'echo never' TERM; sleep ` + mark)
		h.until("it sleeps", func() bool { return sleeping(mark) })
		if v := h.kill(killed.Job, fields{"signal": "SIGKILL"}); !strings.HasSuffix(v.Signal, "KILL") || strings.Contains(v.Text, "never") {
			t.Errorf("who is killed at once: %+v", v)
		}
		again := h.call("shell_kill", fields{"job": killed.Job})
		if again.Result.Status != "succeeded" || !strings.Contains(again.says(), "ended") {
			t.Errorf("killed again: %s: %s", again.Result.Status, again.says())
		}
		for name, alias := range map[string]string{"KillShell": "sleep 50", "KillBash": "sleep 51"} {
			job := h.background(alias).Job
			if got := h.call(name, fields{"job": job}); got.view().State != "ended" || h.asked(got) != 0 {
				t.Errorf("%s: %s", name, got.says())
			}
		}
		if got := h.call("BashOutput", fields{"job": killed.Job}); got.Result.Status != "succeeded" {
			t.Errorf("BashOutput: %s", got.says())
		}
	})
}

// TestKillUnasked: ending and reading what one started needs nobody's permission.
func TestKillUnasked(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.Full).jobHost("--mode", "plan")
	h.answers("deny")
	job := h.background("sleep 60").Job // reads nothing and nobody: allowed in plan mode
	for _, got := range []*jobReply{h.call("shell_output", fields{"job": job}), h.call("shell_kill", fields{"job": job})} {
		if got.Result.Status != "succeeded" || h.asked(got) != 0 {
			t.Errorf("asked %d times: %s", h.asked(got), got.says())
		}
	}
}

// TestCancelKills: a cancel or the deadline of a call ends its job, after it was told; a call that was answered can no longer be
// canceled.
func TestCancelKills(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h, mark := a.jobHost(), newMark(t)
		script := `trap 'echo told; exit 0' TERM; echo up; setsid sleep ` + mark + ` & while :; do sleep 0.05; done` // what it says is said when that sleeps
		call := h.start("shell", fields{"command": script})
		h.until("it sleeps", func() bool { return sleeping(mark) })
		h.request("agenttool/cancel", fields{"id": call.id, "reason": "too slow"}, &struct{}{})
		got := call.result()
		if got.Result.Status != "canceled" {
			t.Errorf("canceled: %s after %v: %s", got.Result.Status, got.took, got.says())
		}
		if job := got.view().Job; job != "" {
			if v := h.output(job, fields{"cursor": 0}); v.State != "ended" || !strings.Contains(v.Text, "up\n") || !strings.Contains(v.Text, "told") {
				t.Errorf("canceled: %+v", v)
			}
		}
		gone(t, "canceled", mark)

		call = h.start("shell", fields{"command": "sleep " + mark}, fields{"timeout_ms": 400})
		if got := call.result(); got.Result.Status != "timed_out" {
			t.Errorf("past the call's deadline: %s after %v", got.Result.Status, got.took)
		}
		gone(t, "past its deadline", mark)

		job, deadline := "", time.Duration(0)
		for _, limit := range limits {
			call, deadline = h.start("shell", fields{"command": "sleep " + mark, "run_in_background": true}, fields{"timeout_ms": limit}), time.Duration(limit)*time.Millisecond
			if got := call.result(); got.Result.Status != "timed_out" { // before it began
				job = got.view().Job
				break
			}
		}
		h.until("it sleeps", func() bool { return sleeping(mark) })
		var canceled struct{ Acknowledged bool }
		h.request("agenttool/cancel", fields{"id": call.id}, &canceled)
		time.Sleep(time.Until(call.begun.Add(deadline + 300*time.Millisecond))) // past the deadline of the call that has been answered
		if canceled.Acknowledged || !sleeping(mark) {
			t.Errorf("a call that was answered: canceled %v, its job lives: %v", canceled.Acknowledged, sleeping(mark))
		}
		h.kill(job)

		wait := h.start("shell_output", fields{"job": h.background("sleep " + mark).Job, "until": "exit", "wait_ms": 300_000})
		h.until("it sleeps again", func() bool { return sleeping(mark) })
		time.Sleep(200 * time.Millisecond)
		h.request("agenttool/cancel", fields{"id": wait.id}, &struct{}{})
		if got := wait.result(); got.Result.Status != "canceled" || !sleeping(mark) {
			t.Errorf("a wait that is canceled: %s after %v, the job lives: %v", got.Result.Status, got.took, sleeping(mark))
		}
	})
}

// TestHardLimits: no input makes a call wait for ever. What asks for more than a call may wait gets the most, and the record says so.
func TestHardLimits(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	job := h.background("sleep 1").Job
	for _, c := range []struct {
		tool  string
		input fields
		want  string // in the input that is judged; "": refused
	}{
		{"shell", fields{"command": "true", "timeout_ms": 3_600_001}, `"timeout_ms":3600000`},
		{"shell_output", fields{"job": job, "until": "exit", "wait_ms": 300_001}, `"wait_ms":300000`},
		{"shell_kill", fields{"job": job, "grace_ms": 60_001}, ""},
	} {
		got := h.call(c.tool, c.input)
		if judged := string(got.Invocation.ObservableInput); (got.Result.Status == "succeeded") != (c.want != "") || !strings.Contains(judged, c.want) {
			t.Errorf("%s %v: %s, %s", c.tool, c.input, got.Result.Status, judged)
		}
	}
}

// TestPorts: what a job listens on is found from its own sockets, and is reached by the next command.
func TestPorts(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "curl")
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		h := a.jobHost()
		v := h.background("python3 -u -m http.server 0 --bind 127.0.0.1")
		quiet := h.background("sleep 60")
		var ports []jobPort
		took := h.until("its port is reported", func() bool {
			ports = h.output(v.Job, fields{"wait_ms": 200}).Ports
			return len(ports) > 0
		})
		p := ports[0]
		if len(ports) != 1 || p.Address != "127.0.0.1" || p.Port == 0 || p.PID <= 0 || !strings.Contains(p.Command, "python") {
			t.Errorf("after %v: %+v", took, ports)
		}
		said := h.call("shell_output", fields{"job": v.Job})
		if offered := strings.Contains(said.says(), "toolhost jobs forward "+v.Job); offered != (a.level == sandbox.Full) {
			t.Errorf("at level %s it says %s", a.level, said.says())
		}
		serving := fmt.Sprintf("port %d", p.Port) // it says so when it listens already
		if said := h.output(v.Job, fields{"cursor": 0, "until": "match:" + serving}).Text; !strings.Contains(said, serving) {
			t.Errorf("port %d is reported, the server says %q", p.Port, said)
		}
		if got := h.ran(fmt.Sprintf("curl -sS http://127.0.0.1:%d/file", p.Port)); got.Stdout != "pristine\n" {
			t.Errorf("the server gave %q", got.Stdout)
		}
		for _, j := range h.jobs() {
			if want := j.Job == v.Job; (len(j.Ports) > 0) != want {
				t.Errorf("status says of %s: %+v", j.Job, j.Ports)
			}
		}
		// a child of a child, in another session, on any address
		deep := h.background(`(setsid python3 -u -c 'import socket, time
s = socket.socket(socket.AF_INET6); s.bind(("::", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)' &); sleep 60`)
		h.until("the port of a grandchild", func() bool { return len(h.output(deep.Job, fields{"wait_ms": 200}).Ports) > 0 })
		for _, job := range []string{v.Job, quiet.Job, deep.Job} {
			h.kill(job)
		}
		if left := h.output(v.Job).Ports; len(left) > 0 {
			t.Errorf("after its end: %+v", left)
		}
	})
}

// TestFiftyFirstJob is refused, with what to do.
func TestFiftyFirstJob(t *testing.T) {
	conform.Held(t, "AT-323")
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	h.loose = true
	mark := newMark(t)
	var jobs []string
	for range 49 {
		jobs = append(jobs, h.background("sleep "+mark).Job)
	}
	jobs = append(jobs, h.ran("(sleep "+mark+" &); echo").Job) // one that lingers counts
	for range 2 {
		got := h.run("touch made", aside)
		e := got.Result.Error
		refused := got.Result.Status == "failed" && e.Class == "rate_limited" && e.Recoverability == "retry" && e.RetryAfter > 0
		if says := e.Message; !refused || !strings.Contains(says, "50") || !strings.Contains(says, "shell_kill") {
			t.Errorf("the 51st: %s: %+v", got.Result.Status, got.Result.Error)
		}
	}
	if exists(h.a, "ws/made") {
		t.Error("it ran")
	}
	if v := h.output(jobs[7]); v.State != "running" {
		t.Errorf("another: %+v", v)
	}
	h.kill(jobs[7])
	h.ran("touch made")
	for _, job := range jobs {
		h.kill(job)
	}
	gone(t, "all", mark)
}

// TestJobNumbers are never used again, and in the order of the starts, also of those that fail.
func TestJobNumbers(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	h := r.jobArena(t, self, sandbox.None).jobHost()
	last := 0
	for i := range 20 {
		got := h.run([]string{"true", "exit 1", "no-such-program", "kill -9 $$"}[i%4])
		var n int
		if _, err := fmt.Sscanf(got.view().Job, "j%d", &n); err != nil || n <= last {
			t.Errorf("job %q after j%d", got.view().Job, last)
		}
		last = n
	}
	if got := h.call("shell_output", fields{"job": "j1"}); got.Result.Status != "succeeded" {
		t.Errorf("the first: %s", got.says())
	}
}

// TestShutdownEndsJobs: both ways in which a client ends a session end its jobs soon, and answer who waits for one.
func TestShutdownEndsJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	everywhere(t, r, func(t *testing.T, a *escapeAttempt) {
		t.Parallel()
		for _, how := range []string{"end of input", "agenttool/shutdown"} {
			h, mark := a.on(t).jobHost("--drain", "1s"), newMark(t)
			job := h.background("trap '' TERM; sleep " + mark).Job
			wait := h.start("shell_output", fields{"job": job, "until": "exit", "wait_ms": 300_000})
			front := h.start("shell", fields{"command": "sleep " + mark})
			h.until("both sleep", func() bool { return len(h.jobs()) == 2 })
			asked := time.Now()
			if how == "agenttool/shutdown" {
				h.request(how, fields{}, &struct{}{})
			}
			h.close()
			within(t, how, time.Since(asked), 5*time.Second, patience)
			for name, call := range map[string]*pendingCall{"a wait": wait, "a command": front} {
				if got, err := call.wait(); err != nil || got.Result.Status == "" {
					t.Errorf("%s: %s was not answered: %v", how, name, err)
				}
			}
			gone(t, how, mark)
		}
	})
}
