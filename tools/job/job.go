package job

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// Job is a command with its descendants.
type Job struct {
	jobs  *Jobs
	spec  *Spec
	group *group
	watch watch
	identity
	channels
	audience
	ending
}

// identity says which job this is.
type identity struct {
	id         string
	started    time.Time
	invocation agenttool.InvocationID // of the call that started it
}

// channels are the input and the output of a job.
type channels struct {
	Input   *Input  // its standard input
	Cursor  *Cursor // of its readers
	log     *output.Log
	streams streams
}

// audience is the call that started a job, and those that wait for it.
type audience struct {
	caller   *caller
	forwards forwards
	detached atomic.Bool // no call waits for it: its output is kept, and it is counted
}

// ending is how a job ended.
type ending struct {
	settled chan struct{} // closed when the command has exited and its output has been read
	mu      sync.Mutex
	exit    exit
	cause   reason
	signals []sandbox.Signaled // the last ones that it got from other jobs
	limited bool               // the time limit of all jobs ended the command
	said    *output.Rendering
}

// exit is the state at the time when the command exited.
type exit struct {
	at       time.Time
	holders  []proc.Holder // of its pipes
	survived bool          // processes that it started have not exited
	note     string        // text that it wrote to descriptor 3
}

// reason is the reason for ending a job.
type reason string

const (
	byItself       reason = ""
	reasonKilled   reason = "killed"
	reasonShutdown reason = "runtime_shutdown"
	reasonLimit    reason = "time_limit"
	reasonLost     reason = "sandbox_lost"
)

func newJob(js *Jobs, id string, s *Spec) *Job {
	j := &Job{identity: identity{id: id, started: time.Now()}, jobs: js, spec: s, ending: ending{settled: make(chan struct{})}}
	j.invocation = s.Reporter.Invocation()
	j.caller = &caller{job: id, started: j.started, reporter: s.Reporter}
	s.Reporter = nil // it holds the whole call, and a job may be kept for long
	j.group = &group{line: s.Line, done: make(chan struct{})}
	j.log = output.New(output.Options{Open: j.caller.payload, Rings: &js.rings})
	j.streams.log = j.log
	j.Input = &Input{job: id, spec: s, group: j.group}
	j.Cursor = &Cursor{log: j.log}
	j.watch = watch{started: j.started, input: j.Input, group: j.group, log: j.log}
	return j
}

// Start starts a job and returns when its command runs. Errors are those of [sandbox.Session.Start], rate_limited if
// there are too many jobs, and dependency_unavailable if the system has no descriptors left.
func (js *Jobs) Start(ctx context.Context, s *Spec) (*Job, error) {
	js.clean()
	j, err := js.admit(s)
	if err != nil {
		return nil, err
	}
	defer js.begin.Done()
	err = j.start(ctx)
	if err == nil && s.Background {
		j.Detach()
	}
	js.add(j, err == nil)
	if err != nil {
		j.finish() // it may have started, and said much, before its call was cancelled
		return nil, err
	}
	go j.follow()
	js.began()
	return j, nil
}

// start opens the streams, and starts the command and the goroutines that read its output. The command gets only its
// own ends of the streams.
func (j *Job) start(ctx context.Context) error {
	ends, err := j.streams.open(j.spec, j.Input)
	defer ends.close()
	if err != nil {
		return noStreams(err)
	}
	j.watch.follow(j.streams.pumps)
	c := j.spec.Command
	c.Streams, c.Terminal, c.Note, c.Report = ends.streams, j.spec.Stdin == Terminal, ends.note, j.caller.violated
	c.Background = j.spec.Background
	c.Name, c.Signaled = j.id, j.signaled
	c.Ask, c.MayAsk = j.caller.ask, j.caller.mayAsk
	j.group.mark = ownMark(j.jobs.o.Owner, j.id).String()
	c.Env = append(slices.Clip(c.Env), MarkName+"="+j.group.mark)
	j.group.process, err = j.jobs.o.Session.Start(ctx, &c)
	return err
}

// follow waits for the end of the command, reads the rest of its pipes, and then waits for the end of all its
// descendants.
func (j *Job) follow() {
	if limit := j.jobs.o.Limit; limit > 0 {
		timer := time.AfterFunc(limit, func() {
			j.mu.Lock()
			j.limited = !isClosed(j.group.process.Exited())
			j.mu.Unlock()
			j.terminate(j.jobs.o.Grace, reasonLimit)
		})
		defer timer.Stop()
	}
	<-j.group.process.Exited()
	exited := time.Now()
	j.settle(exited, j.streams.drain(j.jobs.o.Drain))
	if !j.lingers() {
		j.group.endSurvivors()
		j.finish()
		if !j.detached.Load() {
			j.tell() // an incomplete character at the end is final now
		}
		close(j.settled)
		j.conclude()
		return
	}
	j.Detach()
	close(j.settled)
	<-j.group.process.Gone()
	j.group.endSurvivors()
	output.Drain(j.jobs.o.Drain, j.streams.pumps...)
	j.finish()
	j.conclude()
}

// settle records the state when the command has exited, and whether its pipes can still be written to.
func (j *Job) settle(exited time.Time, open bool) {
	e := exit{at: exited}
	var left []proc.Process
	if left, e.survived = j.group.left(open); open && e.survived {
		e.holders = proc.Holders(left, j.streams.held())
		for i := range e.holders {
			e.holders[i].PID = proc.Inner(e.holders[i].PID)
			e.holders[i].Command = j.group.shown(e.holders[i].Command)
		}
	}
	e.note = j.streams.note.end()
	if !j.detached.Load() { // a call waits for it
		j.tell()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.exit = e
}

// tell stores the output for the call that waits for it. If the log is still open, it makes sure that omitted output
// is kept.
func (j *Job) tell() {
	said := j.log.Rendered(j.spec.Excerpt, j.spec.Lines)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.said = &said
}

// finish releases the job's resources. Its output stays.
func (j *Job) finish() {
	j.watch.follow(nil)
	j.streams.finish()
	_, _ = j.log.Close() // the log records its losses itself
	j.caller.leave()
}

// conclude marks the job as over. It must run last, after settle.
func (j *Job) conclude() {
	close(j.group.done)
	j.jobs.prune()
}

// Said returns the output of the command: until it exited, or until now.
func (j *Job) Said() output.Rendering {
	j.mu.Lock()
	said := j.said
	j.said = nil // it is read once
	j.mu.Unlock()
	if said != nil {
		return *said
	}
	return j.log.Rendered(j.spec.Excerpt, j.spec.Lines)
}

// ID returns the job's name in its session.
func (j *identity) ID() string { return j.id }

// Log returns the job's output.
func (j *Job) Log() *output.Log { return j.log }

// Done returns a channel that is closed when no process of the job is left.
func (j *Job) Done() <-chan struct{} { return j.group.done }

// Detach records that no call waits for the job any more: from now on all its output is kept.
func (j *Job) Detach() {
	if !j.detached.Swap(true) {
		j.log.Spill()
	}
}

// over reports whether no process of the job is left.
func (j *Job) over() bool { return j.group.over() }

func (j *ending) lingers() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.exit.survived
}

// Ending tells how a command ended.
type Ending struct {
	Code   int            // -1: it did not exit by itself
	Signal syscall.Signal // 0: it exited by itself
	Took   time.Duration

	WithSandbox bool // the process that held the sandbox of all commands ended, and this one with it

	Unserved error // why the sandbox could not serve calls of the command, which failed; nil: it served all
}

// Ending returns how the command ended; nil while it runs, or while its leftovers are not yet known.
func (j *Job) Ending() *Ending {
	if !isClosed(j.settled) {
		return nil
	}
	ended := j.group.process.Ended()
	if ended == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e := &Ending{Code: -1, Took: j.exit.at.Sub(j.started), WithSandbox: ended.WithHolder, Unserved: ended.Unserved}
	if ended.Status.Signaled() {
		e.Signal = ended.Status.Signal()
	} else {
		e.Code = ended.Status.ExitStatus()
	}
	return e
}

// Lost are the ids of the jobs that ended, before this one began, with the process that held the sandbox of all.
func (j *Job) Lost() []string { return j.group.process.Lost() }

// EndedBy returns the job that has sent the signal which ended the command, "" if none of this session did.
func (j *Job) EndedBy() string {
	e := j.Ending()
	if e == nil || e.Signal == 0 {
		return ""
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range slices.Backward(j.signals) {
		if s.Signal == e.Signal {
			return s.By
		}
	}
	return ""
}

// LastSignal says which job of this session sent the last signal to a process of this one: "job j9 sent SIGTERM to vite"; "" if none did. What a
// command has left running may end by it after the command itself has ended well.
func (j *Job) LastSignal() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.signals) == 0 {
		return ""
	}
	s := j.signals[len(j.signals)-1]
	return fmt.Sprintf("job %s sent %s to %s", s.By, SignalName(s.Signal), s.Program)
}

// Kill sends sig to all processes of the job and, if some are left after grace, SIGKILL. It returns the names of the
// processes, and reports whether none is left. If ctx ends first, it returns without SIGKILL.
func (j *Job) Kill(ctx context.Context, sig syscall.Signal, grace time.Duration) (names []string, gone bool) {
	if j.over() {
		return nil, true
	}
	names = j.Running()
	j.because(reasonKilled)
	return names, j.group.end(ctx, sig, min(grace, maxGrace))
}

func (j *Job) terminate(grace time.Duration, why reason) (gone bool) {
	j.because(why)
	return j.group.end(context.Background(), syscall.SIGTERM, grace)
}

// Abort ends the job of a call whose time is over, and does not wait long for it: a command has a second to end by itself. Only the kernel
// holds a process that has not ended then.
func (j *Job) Abort() (gone bool) { return j.abort(reasonKilled) }

func (j *Job) abort(why reason) (gone bool) {
	j.because(why)
	grace := min(j.jobs.o.Grace, abortGrace)
	j.group.signal(syscall.SIGTERM)
	if j.group.within(context.Background(), grace) {
		return true
	}
	j.group.process.Kill()
	return j.group.within(context.Background(), abortWait)
}

// because records the reason for ending the job. The first reason counts.
func (j *ending) because(why reason) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cause == byItself {
		j.cause = why
	}
}
