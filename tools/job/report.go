package job

import (
	"errors"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// Report is how a job is at one moment.
type Report struct {
	State   agenttool.JobState
	Ending  *Ending       // of the command; nil while it runs
	Age     time.Duration // how long the command ran, or has run until now
	Holders []proc.Holder // who held its output when it had exited
	Running []string      // names of its processes, when the command has exited
	Waits   *agenttool.JobWait
	Ports   []agenttool.JobPort
	Limited bool // it was ended by the time limit of all jobs
}

// Report looks at the job.
func (j *Job) Report() Report {
	r := Report{State: agenttool.JobRunning, Ending: j.Ending(), Age: j.Age()}
	if r.Ending != nil {
		r.Age = r.Ending.Took
	}
	j.mu.Lock() // after the ending: what survived it is known then
	survived, holders := j.survived, j.holders
	r.Limited = j.limited
	j.mu.Unlock()
	switch {
	case r.Ending != nil && !survived, j.over():
		r.State = agenttool.JobEnded
		return r
	case r.Ending != nil && survived:
		r.State, r.Holders, r.Running = agenttool.JobLingering, holders, j.Running()
	}
	r.Ports = j.Ports()
	if r.Waits = j.Waits(); r.Waits != nil && r.State == agenttool.JobRunning {
		r.State = agenttool.JobWaiting
	}
	return r
}

// Violations are what the sandbox kept from the job so far.
func (j *Job) Violations() []sandbox.Violation { return j.process.Violations() }

// Confinement is what the job runs in.
func (j *Job) Confinement() sandbox.Confinement { return j.process.Confinement() }

// Hints are what the sandbox may have kept from a command that failed, by what it said on stderr.
func (j *Job) Hints(stderr string) []sandbox.Violation {
	return j.process.Hints(stderr, j.spec.Command.Dir)
}

// MarkRead says that the output was read up to a cursor: a reading without one goes on there.
func (j *Job) MarkRead(cursor int64) {
	j.reading.Lock()
	defer j.reading.Unlock()
	j.read = max(j.read, cursor)
}

// Unread is where a reading without a cursor goes on.
func (j *Job) Unread() int64 {
	j.reading.Lock()
	defer j.reading.Unlock()
	return j.read
}

// ReadOn reads on where the last reading without a cursor ended. Each byte is told once, whoever reads.
func (j *Job) ReadOn(max int, streams output.Streams) output.Page {
	j.reading.Lock()
	defer j.reading.Unlock()
	page := j.log.Read(output.Request{From: j.read, Max: max, Streams: streams})
	j.read, j.readOn = page.Next, true
	return page
}

// Unmatched is where a search without a cursor begins: what the result of the command itself told may be what is waited for, when
// nothing was read since.
func (j *Job) Unmatched() int64 {
	j.reading.Lock()
	defer j.reading.Unlock()
	if !j.readOn {
		return 0
	}
	return j.read
}

// payload opens the payload that gets every byte of the output.
func (j *Job) payload() (agenttool.Payload, error) {
	j.mu.Lock()
	r := j.reporter
	j.mu.Unlock()
	if r == nil {
		return nil, errEnded
	}
	return r.Payload("output", "text/plain; charset=utf-8")
}

var errEnded = errors.New("the job has ended")

// violated tells at once what the sandbox kept from the job.
func (j *Job) violated(v sandbox.Violation) {
	j.mu.Lock()
	r := j.reporter
	j.mu.Unlock()
	encoded, err := agenttool.Encode(v)
	if r == nil || err != nil {
		return // strings and a truth value: it cannot fail
	}
	r.Progress(agenttool.Progress{
		Status: "running", Message: OneLine(v.String()), ElapsedMS: j.Age().Milliseconds(), TaskID: j.id,
		Extra: agenttool.Extra{"sandbox_violation": encoded},
	})
}
