package job

import (
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// look is what was last seen of a job that may wait for input.
type look struct {
	at     time.Time
	waiter *proc.Waiter // nil: none
	bytes  int64        // of output
	cpu    uint64       // that its processes had used
	steady bool         // it had neither said anything nor worked since the look before
}

const (
	quiet    = 200 * time.Millisecond // without output and input, before a job is taken to wait
	sameLook = 2 * time.Second        // two looks that are further apart are not compared
)

// Waits returns who waits for the job's input: a process that is blocked reading it, while the job has said nothing for a
// moment, nobody has given it any, and it has not worked meanwhile. Nil: nobody does, or it cannot be known.
func (j *Job) Waits() *agenttool.JobWait {
	if j.input == nil || j.over() {
		return nil
	}
	j.looking.Lock() // many may ask; one looks for all of them
	defer j.looking.Unlock()
	if before := j.look; time.Since(before.at) > quiet/2 { // looks that are too close see no difference
		j.look = j.see()
		j.look.steady = j.look.at.Sub(before.at) > sameLook || before.waiter == nil ||
			before.bytes == j.look.bytes && before.cpu == j.look.cpu
	}
	seen := j.look
	j.mu.Lock()
	fed := j.fed
	j.mu.Unlock()
	now := time.Now()
	if seen.waiter == nil || !seen.steady || now.Sub(j.log.Stats().LastWrite) < quiet || now.Sub(fed) < quiet || now.Sub(j.started) < quiet {
		return nil
	}
	return &agenttool.JobWait{PID: seen.waiter.PID, Command: seen.waiter.Command, On: seen.waiter.On}
}

// see looks at the job's processes.
func (j *Job) see() look {
	seen := look{at: time.Now(), bytes: j.log.Stats().Bytes}
	all := j.processes()
	for _, p := range all {
		seen.cpu += p.CPU
	}
	if w, ok := proc.Waiting(all, j.reads); ok {
		seen.waiter = &w
	}
	return seen
}

// Status says how the job is now.
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
	s.PID = j.process.PID()
	s.Ports = j.Ports()
	if j.lingers() {
		s.State, s.Running = agenttool.JobLingering, j.Running()
	}
	if s.WaitsFor = j.Waits(); s.WaitsFor != nil && s.State == agenttool.JobRunning {
		s.State = agenttool.JobWaiting
	}
	return s
}

// Ports are the ports on which processes of the job listen.
func (j *Job) Ports() []agenttool.JobPort {
	if j.over() {
		return nil
	}
	var ports []agenttool.JobPort
	for _, p := range proc.Ports(j.processes()) {
		ports = append(ports, agenttool.JobPort{Address: p.Address, Port: p.Port, PID: p.PID, Command: p.Command})
	}
	return ports
}

// Running are the names of the job's processes.
func (j *Job) Running() []string {
	if j.over() {
		return nil
	}
	return names(j.processes())
}

// Age is the time since the job's start.
func (j *Job) Age() time.Duration { return time.Since(j.started) }

// processes are those of the job that live.
func (j *Job) processes() []proc.Process {
	if pid := j.process.PID(); pid > 0 {
		return proc.Below(pid)
	}
	return nil
}
