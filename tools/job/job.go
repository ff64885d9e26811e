package job

import (
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// Stdin is what a command reads.
type Stdin uint8

// The kinds of stdin.
const (
	Nothing  Stdin = iota // /dev/null: a reader is at its end at once
	Open                  // a pipe, which nobody has closed yet
	Terminal              // a pseudo-terminal, which is stdout and stderr too
)

// Spec is what a job is started with.
type Spec struct {
	Line       string             // the command as it was approved
	Reporter   agenttool.Reporter // of the call that starts it
	Command    sandbox.Command    // without streams, terminal, note and report
	Stdin      Stdin
	Size       pty.Winsize // of the terminal; 0: 120 columns, 40 rows
	Background bool        // nobody waits for it
	DataOnly   bool        // all that it does with its input is to read it as data
	Shell      bool        // it is a shell that reads commands, started as such
	Note       bool        // the command says something on descriptor 3, see [Job.Note]
	Excerpt    int         // bytes that are told of it when the command has exited, see [Job.Said]
}

// Job is a command with all that it started.
type Job struct {
	id      string
	jobs    *Jobs
	spec    *Spec
	started time.Time
	process *sandbox.Process

	invocation agenttool.InvocationID // of the call that started it
	log        *output.Log
	pumps      []*output.Pumping
	pipes      []*os.File // what they read
	input      *os.File   // the host's end of what it reads; nil: nothing
	reads      proc.Input // the command's end of it
	note       *note      // what it says on descriptor 3; nil: nothing

	detached atomic.Bool   // nobody waits for it: its output is kept, and it is counted
	settled  chan struct{} // closed when the command has exited and what it said is read
	done     chan struct{} // closed when nothing is left

	mu       sync.Mutex
	reporter agenttool.Reporter // of that call; nil when the job has ended
	ended    time.Time          // of the command
	holders  []proc.Holder
	survived bool // the command has exited, and others that it started have not
	cause    reason
	limited  bool // the time limit of all jobs ended the command
	noted    string
	said     *output.Rendering
	fed      time.Time // when it was given input
	typed    typed

	looking sync.Mutex
	look    look

	feeding sync.Mutex // one input at a time
	reading sync.Mutex
	read    int64 // up to where its output was read without a cursor
	readOn  bool  // it was, by more than the result of its command
}

// reason is why a job was ended.
type reason string

const (
	byItself       reason = ""
	reasonKilled   reason = "killed"
	reasonShutdown reason = "runtime_shutdown"
	reasonLimit    reason = "time_limit"
)

func newJob(js *Jobs, id string, s *Spec) *Job {
	j := &Job{id: id, jobs: js, spec: s, started: time.Now(), settled: make(chan struct{}), done: make(chan struct{})}
	j.invocation, j.reporter = s.Reporter.Invocation(), s.Reporter
	s.Reporter = nil // with it goes the whole call, and a job may be kept for long
	j.log = output.New(output.Options{Open: j.payload, Rings: &js.rings})
	return j
}

// Start starts a job and returns when its command runs. Errors are those of [sandbox.Session.Start], rate_limited when there
// are too many jobs, and dependency_unavailable when the system has no descriptor left.
func (js *Jobs) Start(s *Spec) (*Job, error) {
	js.clean()
	j, err := js.admit(s)
	if err != nil {
		return nil, err
	}
	defer js.begin.Done()
	err = j.start()
	if err == nil && s.Background {
		j.Detach()
	}
	js.add(j, err == nil)
	if err != nil {
		j.closeFiles()
		return nil, err
	}
	go j.follow()
	js.told()
	return j, nil
}

// start opens the streams, and starts the command and what reads it. Only the command's ends reach it.
func (j *Job) start() error {
	ends, err := j.open()
	defer ends.close()
	if err != nil {
		return noStreams(err)
	}
	c := j.spec.Command
	c.Streams, c.Terminal, c.Note, c.Report = ends.streams, j.spec.Stdin == Terminal, ends.note, j.violated
	c.Env = append(slices.Clip(c.Env), MarkName+"="+ownMark(j.jobs.o.Owner, j.id).String())
	j.process, err = j.jobs.o.Session.Start(&c)
	return err
}

// follow waits for the end of the command, reads what it left in its pipes, and then waits for the end of all that it started.
func (j *Job) follow() {
	if limit := j.jobs.o.Limit; limit > 0 {
		timer := time.AfterFunc(limit, func() {
			j.mu.Lock()
			j.limited = !isClosed(j.process.Exited())
			j.mu.Unlock()
			j.terminate(j.jobs.o.Grace, reasonLimit)
		})
		defer timer.Stop()
	}
	<-j.process.Exited()
	exited := time.Now()
	j.settle(exited, j.drain())
	if !j.lingers() {
		j.endSurvivors()
		j.finish()
		if !j.detached.Load() {
			j.tell() // half a character at the end is one now
		}
		close(j.settled)
		j.conclude()
		return
	}
	j.Detach()
	close(j.settled)
	<-j.process.Gone()
	j.endSurvivors()
	output.Drain(j.jobs.o.Drain, j.pumps...)
	j.finish()
	j.conclude()
}

// drain reads on after the command has exited, until nobody can write any more, or nobody did for a while. It reports whether
// somebody still can.
func (j *Job) drain() (open bool) {
	const slice = 3 // of the time: silence that is long enough
	for range slice {
		before := j.log.Stats().Bytes
		open = output.Drain(j.jobs.o.Drain/slice, j.pumps...)
		if !open || j.log.Stats().Bytes == before {
			break
		}
	}
	return open
}

// settle takes note of how things are when the command has exited, and whether somebody can still write to its pipes.
func (j *Job) settle(exited time.Time, open bool) {
	var holders []proc.Holder
	left := j.left(open)
	if open && len(left) > 0 {
		holders = proc.Holders(left, j.heldPipes())
	}
	note := j.note.end()
	if !j.detached.Load() { // somebody waits for it
		j.tell()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended, j.holders, j.survived, j.noted = exited, holders, len(left) > 0, note
}

// tell keeps what the command said for whoever waits for it. While the log is open it sees to it that what is left out is kept.
func (j *Job) tell() {
	said := j.log.Rendered(j.spec.Excerpt)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.said = &said
}

// left are the processes that the command left behind. Who has closed the pipes may be about to exit, and is given a moment;
// others have had their time.
func (j *Job) left(open bool) []proc.Process {
	ended := j.process.Ended()
	if ended == nil || ended.Alone {
		return nil
	}
	if !open {
		select {
		case <-j.process.Gone():
		case <-time.After(patience):
		}
	}
	return j.processes()
}

// patience is for processes that are about to exit.
const patience = 50 * time.Millisecond

// finish gives back what the job had. What it said stays.
func (j *Job) finish() {
	j.closeFiles()
	j.pumps, j.pipes = nil, nil // with their buffers
	_, _ = j.log.Close()        // what was not kept is known to the log
	j.mu.Lock()
	j.reporter = nil
	j.mu.Unlock()
}

// conclude says that nothing is left. It comes last: what is over has settled.
func (j *Job) conclude() {
	close(j.done)
	j.jobs.prune()
}

func (j *Job) closeFiles() {
	for _, f := range append(j.pipes, j.input) {
		if f != nil {
			_ = f.Close() // a terminal is both, and is closed twice
		}
	}
	j.note.close()
}

// heldPipes are those that somebody can still write to.
func (j *Job) heldPipes() []*os.File {
	var open []*os.File
	for i, p := range j.pumps {
		if p.Open() {
			open = append(open, j.pipes[i])
		}
	}
	return open
}

// Said is what the command said: until it exited, or until now.
func (j *Job) Said() output.Rendering {
	j.mu.Lock()
	said := j.said
	j.said = nil // it is asked for once
	j.mu.Unlock()
	if said != nil {
		return *said
	}
	return j.log.Rendered(j.spec.Excerpt)
}

// ID is the job's name in its session.
func (j *Job) ID() string { return j.id }

// Log is what the job says.
func (j *Job) Log() *output.Log { return j.log }

// Done is closed when nothing of the job is left.
func (j *Job) Done() <-chan struct{} { return j.done }

// Detach says that nobody waits for the job any more: from now on every byte of its output is kept.
func (j *Job) Detach() {
	if !j.detached.Swap(true) {
		j.log.Spill()
	}
}

// over reports whether nothing of the job is left.
func (j *Job) over() bool { return isClosed(j.done) }

func (j *Job) lingers() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.survived
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Ending is how a command ended.
type Ending struct {
	Code   int            // -1: not by exiting
	Signal syscall.Signal // 0: by exiting
	Took   time.Duration
}

// Ending returns how the command ended; nil while it runs, or while it is not known yet what it left behind.
func (j *Job) Ending() *Ending {
	if !isClosed(j.settled) {
		return nil
	}
	ended := j.process.Ended()
	if ended == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	e := &Ending{Code: -1, Took: j.ended.Sub(j.started)}
	if ended.Status.Signaled() {
		e.Signal = ended.Status.Signal()
	} else {
		e.Code = ended.Status.ExitStatus()
	}
	return e
}
