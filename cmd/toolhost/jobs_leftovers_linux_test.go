package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox"
)

// leftover is a way in which a command leaves something behind that sleeps for MARK. All of them say "started".
type leftover struct {
	name, script string
	needs        string
	how          fields
	holds        bool // it holds the command's output
}

// untilItSleeps waits until the last program in the background is no shell any more: until then it could be ended with its terminal.
const untilItSleeps = `until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done; `

var leftovers = []leftover{
	{name: "background", script: `sleep MARK & echo started`, holds: true},
	{name: "nohup in a session of its own", script: `setsid nohup sleep MARK & echo started`, holds: true},
	{name: "double fork by bash", script: `( ( sleep MARK & ) & ); echo started`, holds: true},
	{name: "double fork by perl", needs: "perl", holds: true,
		script: `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; exec "sleep", "MARK"'; echo started`},
	{name: "daemon that closes its descriptors", needs: "python3", script: `python3 -c '
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir("/"); os.umask(0); os.closerange(0, 1024)
os.execlp("sleep", "sleep", "MARK")'; echo started`},
	{name: "daemon without an environment", script: `env -i PATH=/usr/bin:/bin setsid -f sleep MARK <&- >&- 2>&-; echo started`},
	{name: "deaf to signals", holds: true,
		script: `(trap "" TERM HUP INT QUIT; exec setsid sleep MARK) & echo started`},
	{name: "on a terminal", how: onTTY, script: `nohup sleep MARK >/dev/null 2>&1 & ` + untilItSleeps + `echo started`},
	{name: "stopped", script: `setsid sleep MARK >/dev/null 2>&1 & ` + untilItSleeps + `kill -STOP $!; echo started`},
}

// startLeftovers runs all of them, one job each, and returns the jobs and their marks.
func startLeftovers(t *testing.T, h *jobHost) (jobs []string, marks []string) {
	t.Helper()
	for _, l := range leftovers {
		if lacking(l.needs, "/usr/bin:/bin") != "" {
			continue
		}
		mark := newMark(t)
		r := h.run(strings.ReplaceAll(l.script, "MARK", mark), l.how)
		v := r.view()
		within(t, l.name+" returns", r.took, 500*time.Millisecond, patience)
		if r.Result.Status != "succeeded" || v.ExitCode == nil || *v.ExitCode != 0 || v.Stdout != "started\n" {
			t.Errorf("%s: %s, stdout %q: %s", l.name, r.Result.Status, v.Stdout, r.says())
		}
		h.until(l.name+" sleeps", func() bool { return sleeping(mark) })
		if v.State != "lingering" || len(v.Running) == 0 {
			t.Errorf("%s: state %q, running %q", l.name, v.State, v.Running)
		}
		if l.holds {
			checkHolder(t, l.name, r, mark)
		}
		jobs, marks = append(jobs, v.Job), append(marks, mark)
	}
	return jobs, marks
}

// checkHolder checks that who holds the output is named, to programs and to the model.
func checkHolder(t *testing.T, what string, r *jobReply, mark string) {
	t.Helper()
	for _, p := range r.view().StillHeldBy {
		if strings.Contains(p.Command, mark) && p.PID > 0 {
			if !strings.Contains(r.says(), mark) || !strings.Contains(r.says(), fmt.Sprint(p.PID)) {
				t.Errorf("%s: the text does not name the holder %+v: %s", what, p, r.says())
			}
			return
		}
	}
	t.Errorf("%s: its holder is not named: %+v", what, r.view().StillHeldBy)
}

// TestJobsLeftovers: what a command leaves behind is named, can be read and ended by the job's id, and dies with the
// host however the host ends.
func TestJobsLeftovers(t *testing.T) {
	t.Parallel()
	r := probedDesk(t)
	t.Run("all", func(t *testing.T) {
		for _, who := range accounts(t) {
			for _, level := range r.levels(t, who) {
				ends := map[string]func(*testing.T, *jobHost, []string, []string){"killed host": killHost, "shell_kill": killEach}
				if who.id == nil && (level == sandbox.Full || level == sandbox.None) {
					ends["end of input"] = func(_ *testing.T, h *jobHost, _, _ []string) { h.close() }
				}
				between := level != sandbox.Full && level != sandbox.None
				if !long() && between { // there the end that the host does not see is the hardest
					delete(ends, "shell_kill")
				}
				if !long() && os.Getuid() == 0 && between == who.root() { // an ordinary user shows it there, and root at the strongest and at none
					continue
				}
				for name, end := range ends {
					t.Run(who.name+" "+string(level)+" "+name, func(t *testing.T) {
						t.Parallel()
						h := r.jobArena(t, who, level).jobHost()
						jobs, marks := startLeftovers(t, h)
						if n := len(h.jobs()); n != len(jobs) {
							t.Errorf("status lists %d jobs of %d", n, len(jobs))
						}
						end(t, h, jobs, marks)
						for i, mark := range marks {
							gone(t, jobs[i], mark)
						}
					})
				}
			}
		}
	})
}

// killEach ends the jobs one by one. No job dies with another.
func killEach(t *testing.T, h *jobHost, jobs, marks []string) {
	for i, job := range jobs {
		if !sleeping(marks[i]) {
			t.Errorf("%s ended before its turn", job)
		}
		begun := time.Now()
		v := h.kill(job, fields{"grace_ms": 300})
		within(t, "the end of "+job, time.Since(begun), 10*time.Second, patience)
		if len(v.Killed) == 0 || !strings.Contains(strings.Join(v.Killed, " "), "sleep") {
			t.Errorf("shell_kill %s does not name what it ended: %q", job, v.Killed)
		}
		if pids := marked(marks[i]); len(pids) > 0 {
			t.Errorf("after shell_kill of %s: %v live", job, pids)
		}
		if h.job(job) != nil {
			t.Errorf("status still lists %s", job)
		}
	}
}

// killHost ends the host by SIGKILL: its jobs, their supervisors and its helpers end.
func killHost(t *testing.T, h *jobHost, _, marks []string) {
	for _, mark := range marks {
		if !sleeping(mark) {
			t.Errorf("%s does not live before the kill", mark)
		}
	}
	all := tree(h.Cmd.Process.Pid)
	h.murder()
	checkEnded(t, "SIGKILL of the host", all)
}

// TestJobsDieWithACall: toolhost call leaves nothing behind either.
func TestJobsDieWithACall(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, level := range r.levels(t, account{name: "self"}) {
		a, mark := r.jobArena(t, account{name: "self"}, level), newMark(t)
		input := asJSON("setsid nohup sleep " + mark + " & (sleep " + mark + " &); echo started")
		said, code := a.said(a.confined("call", "shell", `{"command":`+input+`}`, "--workspace", a.ws, "--sandbox", string(level), "--allow", "Shell"))
		if code != 0 || !strings.Contains(said, "started") {
			t.Errorf("%s: exit %d: %s", level, code, said)
		}
		gone(t, string(level), mark)
	}
}

// TestUnconfinedJobDies: a call that was let out of the sandbox has a supervisor.
func TestUnconfinedJobDies(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, who := range accounts(t) {
		for _, by := range []string{"shell_kill", "SIGKILL"} {
			t.Run(who.name+" "+by, func(t *testing.T) {
				a, mark := r.jobArena(t, who, sandbox.Full), newMark(t)
				h := a.jobHost()
				h.answers("allow", "unconfined")
				v := h.ran("touch x; setsid nohup sleep " + mark + " & (env -i PATH=/usr/bin:/bin setsid sleep " + mark + " &) <&- >&- 2>&-; echo started")
				if v.Sandbox.Profile != "unconfined" {
					t.Fatalf("it ran under profile %q", v.Sandbox.Profile)
				}
				h.until("it sleeps", func() bool { return sleeping(mark) })
				if by == "SIGKILL" {
					all := tree(h.Cmd.Process.Pid)
					h.murder()
					checkEnded(t, by, all)
				} else {
					h.kill(v.Job)
				}
				gone(t, by, mark)
			})
		}
	}
}

// runaway is a process that is never the same for long: it forks, and what forked ends. Each generation adds a byte to
// the file "generations", and is the last once there is a file "enough".
const runaway = `exec perl -MPOSIX -e 'POSIX::setsid(); $SIG{TERM} = "IGNORE"; # MARK
for (;;) {
	my $p = fork; exit if $p; POSIX::setsid();
	exit if -e "enough"; open(my $f, ">>", "generations"); syswrite $f, "."; close $f;
	select undef, undef, undef, 0.002;
}'`

// TestRunawayJob: a process that runs away from who looks for it ends as well.
func TestRunawayJob(t *testing.T) {
	t.Parallel()
	needs(t, "perl")
	r := jobTools(t)
	for _, level := range r.levels(t, account{name: "self"}) {
		for _, by := range []string{"shell_kill", "SIGKILL"} {
			t.Run(string(level)+" "+by, func(t *testing.T) {
				a, mark := r.jobArena(t, account{name: "self"}, level), newMark(t)
				t.Cleanup(func() { _ = os.WriteFile(filepath.Join(a.ws, "enough"), nil, 0o600) })
				generations := func() int64 {
					info, err := os.Stat(filepath.Join(a.ws, "generations"))
					if err != nil {
						return 0
					}
					return info.Size()
				}
				h := a.jobHost()
				v := h.background(strings.ReplaceAll(runaway, "MARK", mark))
				h.until("it runs", func() bool { return generations() > 50 })
				if by == "SIGKILL" {
					h.murder()
				} else {
					h.kill(v.Job, fields{"grace_ms": 100})
				}
				gone(t, by, mark)
				last := generations()
				for end := time.Now().Add(patience); ; last = generations() { // a look at /proc may miss it, its file tells
					time.Sleep(300 * time.Millisecond)
					if generations() == last {
						break
					}
					if time.Now().After(end) {
						t.Fatalf("%s: it runs on, %d generations", by, generations())
					}
				}
			})
		}
	}
}

// killsSupervisor ends who watches the job. The parent of the shell is its supervisor, as long as that is not the host.
const killsSupervisor = `host=%d; [ "$PPID" = "$host" ] && { echo "no supervisor"; exit 3; }; sleep 0.3; kill -9 "$PPID"; sleep 0.1; `

// TestJobKillsItsSupervisor: without a sandbox a job can end who watches it. If it takes the host with it, it may
// live on, until the next session's first command.
func TestJobKillsItsSupervisor(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, who := range accounts(t) {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			a, mark := r.jobArena(t, who, sandbox.None), newMark(t)
			h := a.jobHost()
			v := h.background(fmt.Sprintf(killsSupervisor, h.Cmd.Process.Pid) + "setsid -f sleep " + mark + "; sleep " + mark)
			h.until("it sleeps, or was ended", func() bool { return sleeping(mark) || h.job(v.Job) == nil })
			if out := h.output(v.Job, fields{"cursor": 0}); strings.Contains(out.Text, "no supervisor") {
				t.Fatal("the job runs without a supervisor")
			}
			survivor := sleeping(mark)
			h.murder()
			t.Logf("the job outlives its supervisor: %v, and the host: %v", survivor, sleeping(mark))

			next := a.jobHost()
			if ended := next.ran("true"); ended.Job != "j1" {
				t.Errorf("the first job of a session is %q", ended.Job)
			}
			gone(t, "after the next session's first command", mark)
		})
	}
}

// TestJobKillsItsHost: a job that ends its supervisor and the host at once outlives both, and is found again, also by
// sessions of another workspace and after a first try elsewhere.
func TestJobKillsItsHost(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a, mark := r.jobArena(t, account{name: "self"}, sandbox.None), newMark(t)
	h := a.jobHost()
	h.start("shell", fields{"command": fmt.Sprintf("setsid -f sleep %s; kill -9 %d $PPID; sleep %[1]s", mark, h.Cmd.Process.Pid)})
	select {
	case <-h.Ended():
	case <-time.After(patience):
		t.Fatal("the host lives")
	}
	h.murder()
	time.Sleep(300 * time.Millisecond) // whoever ends what is left has the time to
	t.Logf("the job outlives host and supervisor: %v", sleeping(mark))

	if sleeping(mark) {
		foreign := r.jobArena(t, account{name: "self"}, sandbox.None) // has a state of its own: the session is not its
		other := foreign.jobHost()
		other.ran("true")
		other.close()
		if !sleeping(mark) {
			t.Error("a host whose session it is not has ended it")
		}
	}
	reads := a.jobHost()
	reads.call("read", fields{"path": "file"})
	reads.close()
	next := a.jobHost()
	next.ran("true")
	gone(t, "after the next session's first command", mark)
}

// TestLeftoversAreChecked: of what belongs to a session that has ended, only what a host started that is gone is ended.
func TestLeftoversAreChecked(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	a := r.jobArena(t, self, sandbox.None)
	dead := a.jobHost()
	dead.ran("true")
	dead.close()
	_, here, _ := parentOf(os.Getpid())
	claim := func(host, start string) string {
		mark := newMark(t)
		cmd := exec.Command("sleep", mark)
		cmd.Env = append(a.env, "TOOLHOST_JOB="+dead.session+"/j1/"+host+"."+start)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return mark
	}
	of := map[string]string{
		"a host that lives": claim(fmt.Sprint(here.pid), here.start), "a number that is another's now": claim(fmt.Sprint(here.pid), "1"),
		"a host that is gone": claim("999999999", "1"),
	}
	next := a.jobHost()
	next.ran("true")
	gone(t, "of a host that is gone", of["a host that is gone"])
	gone(t, "of a number that is another's now", of["a number that is another's now"])
	if !sleeping(of["a host that lives"]) {
		t.Error("what a living host started was ended")
	}
}

// TestLiveHostsLeaveEachOthersJobs: no host ends what belongs to another that lives, or to nobody.
func TestLiveHostsLeaveEachOthersJobs(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, level := range []sandbox.Level{sandbox.None, sandbox.Full} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			a := r.jobArena(t, account{name: "self"}, level)
			hosts, marks, jobs := []*jobHost{a.jobHost(), a.jobHost(), a.jobHost("--ephemeral")}, []string{}, []string{}
			for _, h := range hosts {
				mark := newMark(t)
				marks = append(marks, mark)
				script := "setsid -f sleep " + mark + " <&- >&- 2>&-; sleep " + mark
				if level == sandbox.None { // a job without its supervisor has nothing but its host
					script = fmt.Sprintf(killsSupervisor, h.Cmd.Process.Pid) + script
				}
				jobs = append(jobs, h.background(script).Job)
			}
			for i, h := range hosts { // without a sandbox its own host may end it, when that misses the supervisor
				h.until(fmt.Sprintf("the job of host %d runs, or its host has done with it", i), func() bool {
					return level != sandbox.None && sleeping(marks[i]) || level == sandbox.None && h.job(jobs[i]) == nil
				})
			}
			time.Sleep(500 * time.Millisecond)
			person := strangers(t, hosts[0])
			var before []bool
			for _, mark := range marks {
				before = append(before, sleeping(mark))
			}
			for _, flags := range [][]string{nil, {"--ephemeral"}} {
				next := a.jobHost(flags...)
				next.ran("true")
				next.ran("true")
				next.close()
			}
			for i, mark := range marks {
				if before[i] && !sleeping(mark) {
					t.Errorf("job of host %d was ended by another", i)
				}
				if level != sandbox.None && !before[i] {
					t.Errorf("job of host %d does not run", i)
				}
			}
			for _, mark := range person {
				if !sleeping(mark) {
					t.Error("a process that no host started was ended")
				}
			}
			for i, h := range hosts {
				if h.close(); level != sandbox.None {
					gone(t, fmt.Sprint("host ", i), marks[i])
				}
			}
		})
	}
}

// strangers are processes of the test that claim to belong to sessions: one that is nobody's, and one that lives.
func strangers(t *testing.T, h *jobHost) (marks []string) {
	t.Helper()
	for _, of := range []string{
		"ses_nobody/j1/1.1", "ses_nobody/j1/999999999.1", "../../x/j1/2.2", "", "a/b",
		fmt.Sprintf("%s/j1/%d.1", h.session, os.Getpid()), fmt.Sprintf("%s/j1/999999999.1", h.session),
	} {
		mark := newMark(t)
		cmd := exec.Command("sleep", mark)
		cmd.Env = append(h.a.env, "TOOLHOST_JOB="+of)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		marks = append(marks, mark)
	}
	return marks
}

// TestJobEnvironment: every process of a job says whose it is.
func TestJobEnvironment(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	for _, level := range r.levels(t, account{name: "self"}) {
		h := r.jobArena(t, account{name: "self"}, level).jobHost()
		_, self, _ := parentOf(h.Cmd.Process.Pid)
		want := fmt.Sprintf("%s/%%s/%d.%s\n", h.session, self.pid, self.start)
		for _, job := range []string{"j1", "j2"} {
			if got := h.ran(`bash -c 'echo "$TOOLHOST_JOB"'`).Stdout; got != fmt.Sprintf(want, job) {
				t.Errorf("%s: TOOLHOST_JOB is %q, want %q", level, got, fmt.Sprintf(want, job))
			}
		}
	}
}
