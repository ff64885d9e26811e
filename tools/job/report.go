package job

import (
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/sandbox/proxy"
	"toolhost/tools/job/proc"
)

// Report is the state of a job at one moment.
type Report struct {
	State   agenttool.JobState // numbers of processes in a report are those that commands see
	Ending  *Ending            // of the command; nil while it runs
	Age     time.Duration      // run time of the command so far
	Holders []proc.Holder      // processes that held its output when it exited
	Running []string           // names of its processes, after the command has exited
	Waits   *agenttool.JobWait
	Ports   []agenttool.JobPort
	Limited bool // the time limit of all jobs ended it
}

// Report reads the state of the job.
func (j *Job) Report() Report {
	r := Report{State: agenttool.JobRunning, Ending: j.Ending(), Age: j.Age()}
	if r.Ending != nil {
		r.Age = r.Ending.Took
	}
	j.mu.Lock() // after the ending: then the survivors are known
	exited := j.exit
	r.Limited = j.limited
	j.mu.Unlock()
	switch {
	case r.Ending != nil && !exited.survived, j.over():
		r.State = agenttool.JobEnded
		return r
	case r.Ending != nil && exited.survived:
		r.State, r.Holders, r.Running = agenttool.JobLingering, exited.holders, j.Running()
	}
	r.Ports = j.Ports()
	for i := range r.Ports {
		r.Ports[i].PID = proc.Inner(r.Ports[i].PID)
	}
	if r.Waits = j.Waits(); r.Waits != nil {
		r.Waits.PID = proc.Inner(r.Waits.PID)
	}
	if r.Waits != nil && r.State == agenttool.JobRunning {
		r.State = agenttool.JobWaiting
	}
	if r.State == agenttool.JobRunning && len(j.caller.asks()) > 0 {
		r.State = agenttool.JobAsking
	}
	return r
}

// Violations returns the accesses that the sandbox has blocked so far.
func (j *Job) Violations() []sandbox.Violation { return j.group.process.Violations() }

// Bound returns the last bound on processes, memory or scratch that ended the command or what it left running, nil if none did.
func (j *Job) Bound() *sandbox.Violation {
	for _, v := range slices.Backward(j.Violations()) {
		if v.Wall == sandbox.Bound {
			return &v
		}
	}
	return nil
}

// Hosts returns the hosts that the job has reached or tried to reach so far; more is nil if all are listed.
func (j *Job) Hosts() (hosts []proxy.Host, more *proxy.MoreHosts) { return j.group.process.Hosts() }

// Changes returns the files that the job has changed so far, as the sandbox saw it, and the number of changes that are not listed; nil if
// nothing sees them.
func (j *Job) Changes() (files []sandbox.FileChange, more int) { return j.group.process.Changes() }

// Confinement returns the sandbox of the job.
func (j *Job) Confinement() sandbox.Confinement { return j.group.process.Confinement() }

// Explain guesses what the sandbox kept from a command that failed; environ is the user's environment. See [sandbox.Process.Explain].
func (j *Job) Explain(stderr string, environ []string) (hints []sandbox.Violation, likely []string) {
	return j.group.process.Explain(sandbox.Failure{Line: j.spec.Line, Stderr: stderr, Dir: j.spec.Command.Dir, Environ: environ, Given: j.spec.Command.Env})
}

// Astray is a path that the job has written in the session's /tmp and not in the user's, see [sandbox.Process.Astray].
func (j *Job) Astray() string { return j.group.process.Astray() }

// Waits returns the process that waits for the job's input; nil: none, or unknown.
func (j *Job) Waits() *agenttool.JobWait { return j.watch.waits() }

// Ports returns the ports that processes of the job listen on.
func (j *Job) Ports() []agenttool.JobPort { return j.group.ports() }

// OwnLoopback reports whether the ports of the job are on the loopback of its session: a browser of the user reaches them by a [Forward].
func (j *Job) OwnLoopback() bool { return j.group.process.OwnLoopback() }

// Running returns the names of the job's processes.
func (j *Job) Running() []string { return j.group.names() }

// Age returns the time since the job's start.
func (j *identity) Age() time.Duration { return time.Since(j.started) }

// Note returns the text that the command wrote to descriptor 3 before it exited.
func (j *ending) Note() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.exit.note
}

// Status returns the current status of the job.
func (j *Job) Status() agenttool.JobStatus {
	stats := j.log.Stats()
	s := agenttool.JobStatus{
		ID: j.id, InvocationID: j.invocation, Command: OneLine(j.spec.Line), Cwd: j.spec.Command.Dir, State: agenttool.JobRunning,
		AgeMS: time.Since(j.started).Milliseconds(), Bytes: stats.Bytes, Lines: stats.Lines, LastLine: stats.LastLine,
	}
	e := j.Ending()
	if e != nil && e.Signal == 0 {
		s.ExitCode = &e.Code
	}
	if e != nil && !j.lingers() || j.over() {
		s.State = agenttool.JobEnded
		return s
	}
	s.PID = j.group.process.PID()
	s.Ports = j.forwards.mark(j.Ports())
	if j.lingers() {
		s.State, s.Running = agenttool.JobLingering, j.Running()
	}
	if s.WaitsFor = j.Waits(); s.WaitsFor != nil && s.State == agenttool.JobRunning {
		s.State = agenttool.JobWaiting
	}
	if s.Asks = j.caller.asks(); len(s.Asks) > 0 && s.State == agenttool.JobRunning {
		s.State = agenttool.JobAsking
	}
	return s
}

// Final returns how the job ended.
//
// Agent Tool v0.2.0, "tool_progress" of shell commands (AT-237 … AT-241).
func (j *Job) Final() agenttool.Progress {
	stats := j.log.Stats()
	e := j.Ending()
	p := agenttool.Progress{
		Status: "completed", TaskID: j.id, Message: stats.LastLine, ElapsedMS: time.Since(j.started).Milliseconds(),
		BytesRead: stats.Bytes, LineCount: stats.Lines, Extra: agenttool.Extra{
			"stdout_bytes": number(stats.Out), "stderr_bytes": number(stats.Err),
		},
	}
	j.mu.Lock()
	cause, signaled := j.cause, j.signals
	j.mu.Unlock()
	if len(signaled) > 0 {
		p.Extra["signaled_by"] = signals(signaled)
	}
	switch {
	case e != nil && e.Signal != 0:
		p.Status, p.Extra["signal"] = "failed", agenttool.AppendString(nil, SignalName(e.Signal))
	case e != nil:
		p.Extra["exit_code"] = number(int64(e.Code))
		if e.Code != 0 {
			p.Status = "failed"
		}
	}
	if v := j.Bound(); v != nil {
		p.Status, p.Message = "failed", v.String()
	}
	if cause == byItself && e != nil && e.WithSandbox {
		cause = reasonLost
	}
	if cause != byItself {
		p.Status, p.Extra["reason"] = "canceled", agenttool.AppendString(nil, string(cause))
	}
	j.tellEffects(p.Extra)
	if stats.Ref != nil {
		p.PartialResultRefs = []string{stats.Ref.URI}
	}
	return p
}

// tellEffects adds the hosts that the job reached or tried to reach, and the files that it changed.
func (j *Job) tellEffects(extra agenttool.Extra) {
	hosts, more := j.Hosts()
	files, others := j.Changes()
	for name, value := range map[string]any{"hosts": hosts, "more_hosts": more, "changed_files": files, "more_changes": others} {
		if encoded, err := agenttool.Encode(value); err == nil && string(encoded) != "null" && string(encoded) != "0" {
			extra[name] = encoded
		}
	}
}
