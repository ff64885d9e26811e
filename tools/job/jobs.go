package job

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/sandbox"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// Options configure the jobs of a session.
type Options struct {
	Session *sandbox.Session    // starts them; required
	Owner   agenttool.SessionID // in their environment, see [MarkName]
	Max     int                 // maximum number of detached jobs at a time; 0: 50
	Grace   time.Duration       // between SIGTERM and SIGKILL; 0 is 2 s
	Drain   time.Duration       // reading time after the exit; 0: 300 ms
	Limit   time.Duration       // maximum run time of a job; 0: no limit

	// Abandoned reports whether a session belongs to this user's toolhost and its host has ended. The jobs of such a
	// session are ended when the first job of this session starts. It may be nil.
	Abandoned func(agenttool.SessionID) bool
	// Began is called when the first job has started, before its caller continues. It may be nil.
	Began func()
}

const (
	defaultMax   = 50
	defaultGrace = 2 * time.Second
	defaultDrain = 300 * time.Millisecond

	maxEnded     = 200 // ended jobs that outlived their calls are kept for reading
	maxDelivered = 100 // other ended jobs, whose output was delivered with the call
)

// Jobs are the jobs of a session. It is safe for concurrent use.
type Jobs struct {
	o     Options
	clean func() // runs once: ends processes left behind by ended sessions
	began func() // runs once: calls Options.Began
	rings output.Rings
	waits atomic.Int32 // current waits for output

	mu sync.Mutex // guards the register
	register
}

// register lists the jobs.
type register struct {
	last     int
	starting int            // jobs that are not yet in the list
	begin    sync.WaitGroup // waits for them
	jobs     []*Job         // oldest first, including ended ones
	stored   []storedOutput // of ended jobs that are not in the list any more, oldest first
	closed   bool
}

// storedOutput is where the whole output of a job is.
type storedOutput struct{ id, uri string }

// maxStored is how many of them are remembered.
const maxStored = 10_000

// New returns an empty set of jobs for a session. It does no IO.
func New(o Options) *Jobs {
	o.Max = cmp.Or(o.Max, defaultMax)
	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Drain = cmp.Or(o.Drain, defaultDrain)
	js := &Jobs{o: o}
	js.clean = sync.OnceFunc(js.reapLeftovers)
	js.began = sync.OnceFunc(func() {
		if o.Began != nil {
			o.Began()
		}
	})
	return js
}

// admit creates the next job, if the limit allows it. Others see it only after it has started.
func (js *Jobs) admit(s *Spec) (*Job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.closed {
		return nil, errClosed
	}
	apart := js.starting
	for _, j := range js.jobs {
		if j.detached.Load() && !j.over() {
			apart++
		}
	}
	limit := js.o.Max
	if !s.Background {
		limit *= 2 // it may still be detached
	}
	if apart >= limit {
		return nil, agenttool.Failure(agenttool.RateLimited, "too_many_jobs", fmt.Sprintf(
			"%d jobs are running beside their calls, and %d may: end one with shell_kill or wait for one with shell_output (they are %s)",
			apart, js.o.Max, js.names(func(j *Job) bool { return !j.over() })))
	}
	js.last++
	js.starting++
	js.begin.Add(1)
	return newJob(js, "j"+strconv.Itoa(js.last), s), nil
}

var errClosed = agenttool.Failure(agenttool.Canceled, "runtime_shutdown", "toolhost is shutting down: no command starts any more")

// add publishes a started job; a failed one is dropped.
func (js *Jobs) add(j *Job, started bool) {
	js.mu.Lock()
	defer js.mu.Unlock()
	js.starting--
	if started {
		at, _ := slices.BinarySearchFunc(js.jobs, j, func(a, b *Job) int { return a.started.Compare(b.started) })
		js.jobs = slices.Insert(js.jobs, at, j)
	}
}

// prune drops the oldest ended jobs.
func (js *Jobs) prune() {
	js.mu.Lock()
	defer js.mu.Unlock()
	kept := map[bool]int{} // by whether they outlived their calls
	limit := map[bool]int{true: maxEnded, false: maxDelivered}
	for i, j := range slices.Backward(js.jobs) {
		if !j.over() {
			continue
		}
		apart := j.detached.Load()
		if kept[apart]++; kept[apart] > limit[apart] {
			js.jobs = slices.Delete(js.jobs, i, i+1)
			if ref := j.log.Stats().Ref; ref != nil {
				js.stored = append(js.stored, storedOutput{j.id, ref.URI})
				js.stored = js.stored[max(0, len(js.stored)-maxStored):]
			}
		}
	}
}

// Find returns a job by its id. An error is of class invalid_arguments.
func (js *Jobs) Find(id string) (*Job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.jobs {
		if j.id == id {
			return j, nil
		}
	}
	if i := slices.IndexFunc(js.stored, func(s storedOutput) bool { return s.id == id }); i >= 0 {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "job_over", fmt.Sprintf(
			"%s has ended, and too many others ended after it for it to be held: its whole output is %s, which the read tool opens", id, js.stored[i].uri)).In("/job")
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "j")); err == nil && n > 0 && n <= js.last && id == "j"+strconv.Itoa(n) {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "job_over", fmt.Sprintf(
			"%s has ended, and too many others ended after it for its output to be here: the result of its call has what it said until then", id)).In("/job")
	}
	known := "there is none in this session; shell starts one with run_in_background"
	if names := js.names(func(*Job) bool { return true }); names != "" {
		known = "there are " + names
	}
	return nil, agenttool.Failure(agenttool.InvalidArguments, "unknown_job", fmt.Sprintf("%q is no job that is known: %s", cut.Short(id, 40), known)).In("/job")
}

// maxNamed is the number of jobs named in a message.
const maxNamed = 10

// names lists the last ids of the matching jobs. The caller holds mu.
func (js *register) names(some func(*Job) bool) string {
	var ids []string
	for _, j := range slices.Backward(js.jobs) {
		if some(j) {
			ids = append(ids, j.id)
		}
	}
	if len(ids) > maxNamed {
		return strings.Join(ids[:maxNamed], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// List returns the status of the jobs that have not ended, oldest first.
func (js *Jobs) List() []agenttool.JobStatus {
	var list []agenttool.JobStatus
	for _, j := range js.live() {
		list = append(list, j.Status())
	}
	return list
}

// Listener is a port of the session, and the job that listens there.
type Listener struct {
	Job  string
	Port agenttool.JobPort // its process by the number that commands see
}

// Listeners returns the ports on which jobs listen, by job.
func (js *Jobs) Listeners() []Listener {
	var all []Listener
	for _, j := range js.live() {
		for _, p := range j.Report().Ports {
			all = append(all, Listener{j.id, p})
		}
	}
	return all
}

// live returns the jobs that have not ended.
func (js *Jobs) live() []*Job {
	js.mu.Lock()
	defer js.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(js.jobs), (*Job).over)
}

// Close ends all jobs and waits for their end, but not for what the kernel holds. No new jobs can start.
func (js *Jobs) Close() {
	js.mu.Lock()
	js.closed = true
	js.mu.Unlock()
	js.begin.Wait() // bounded: a hanging start times out
	var all sync.WaitGroup
	for _, j := range js.live() {
		all.Go(func() { j.abort(reasonShutdown) })
	}
	all.Wait()
}

// HookMark returns the environment entry for hooks of this process. It serves to find the processes that hooks leave
// in the background.
func (js *Jobs) HookMark() string { return HookMarkName + "=" + ownMark(js.o.Owner, "hook").String() }

// reapLeftovers ends the jobs of ended hosts, and the background processes of their hooks. Usually the supervisors
// have done that already, unless they were killed too. A process is ended only if three conditions hold: its mark
// names a host process that has ended; that host's session belongs to this user's toolhost and no process holds it;
// and the process is still the same when the signal is sent.
func (js *Jobs) reapLeftovers() {
	if js.o.Abandoned == nil {
		return
	}
	abandoned := map[agenttool.SessionID]bool{}
	ours := func(value string) bool {
		m, ok := parseMark(value)
		if !ok || !m.orphaned() {
			return false
		}
		known, asked := abandoned[m.session]
		if !asked {
			known = js.o.Abandoned(m.session)
			abandoned[m.session] = known
		}
		return known
	}
	endAll(func() []proc.Process { return proc.Marked(ours, MarkName, HookMarkName) })
}
