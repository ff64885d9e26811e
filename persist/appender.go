package persist

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
)

// appender is the queue in front of a session's disk. One goroutine at a time works through it in order, so that a
// stalled disk blocks that goroutine and no caller. The goroutine ends when the queue is empty.
type appender struct {
	mu      sync.Mutex
	tasks   []*Pending
	working bool          // the goroutine runs
	freed   chan struct{} // closed when a task is done; nil: no caller waits for room
	closing bool
	limits  limits
	load
	steps
}

// load counts the events of the tasks that are not done.
type load struct {
	events int
	bytes  int // of these events
}

// steps are the disk steps under way.
type steps struct {
	began  time.Time              // when the current task began; zero: none
	beside map[*Pending]time.Time // start times of steps that run outside of the queue
}

// Limits of the queue. A caller that finds it full waits for room and gives up if the disk stalls: then its events
// are dropped and counted in a gap record.
const (
	queueEvents = 4096
	queueBytes  = 8 << 20
)

const (
	// stallAfter is the duration of one disk step after which the disk counts as stalled.
	stallAfter = 300 * time.Millisecond
	// stallLimit is how long a caller without a deadline waits for a stalled disk.
	stallLimit = 10 * time.Second
	// writeLimit is how long Append, payloads and Close wait for a stalled disk.
	writeLimit = time.Second
)

// limits are stallAfter and writeLimit of one store. Tests of other things set longer ones, since their disk may be busy.
type limits struct{ stall, write time.Duration }

// ErrPending means that a disk has not answered yet. The records are in memory and are written, in order, when it
// answers.
var ErrPending = agenttool.Failure(agenttool.DependencyUnavailable, "journal_stalled",
	"the disk of the session log does not answer; records are kept in memory until it does, and lost if toolhost ends before")

// Pending is a queued disk step: a group of events that [Store.Submit] queued, or another operation.
type Pending struct {
	// Until the step is done.
	do      func(*Pending)
	events  [][]byte
	written func(first int64)

	size int
	lost int // number of dropped events that this step records; it has no events
	done chan struct{}

	// Set before done is closed.
	first int64
	err   error
}

// Wait returns the result of Append once the events are written or have finally failed, and [ErrPending] after limit.
func (p *Pending) Wait(limit time.Duration) (first int64, err error) {
	if p.soon() {
		return p.first, p.err
	}
	select {
	case <-p.done:
		return p.first, p.err
	case <-time.After(limit):
		return 0, ErrPending
	}
}

// soon lets the new goroutine run, and reports whether the step is done: usually it is, and the wait needs neither a
// timer nor another thread.
func (p *Pending) soon() bool {
	for range 2 {
		select {
		case <-p.done:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

// within waits until the step is done, ctx ends or, if ctx has no deadline, the disk has stalled for stallLimit.
func (p *Pending) within(ctx context.Context) error {
	if p.soon() {
		return p.err
	}
	limit := (<-chan time.Time)(nil)
	if _, ok := ctx.Deadline(); !ok {
		limit = time.After(stallLimit)
	}
	select {
	case <-p.done:
		return p.err
	case <-limit:
		return ErrPending
	case <-ctx.Done():
		return errors.Join(ErrPending, context.Cause(ctx))
	}
}

// put queues a step. It fails with ErrPending if the queue has no room, and with ErrClosed after the last step.
func (a *appender) put(p *Pending) error {
	p.done = make(chan struct{})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.full(p) && !a.makeRoom(p) {
		return ErrPending
	}
	if a.closing {
		return ErrClosed
	}
	a.push(p)
	return nil
}

// push queues a step even if the queue is full. The caller holds a.mu.
func (a *appender) push(p *Pending) {
	a.tasks = append(a.tasks, p)
	a.events += len(p.events)
	a.bytes += p.size
	if !a.working {
		a.working = true
		go a.work() // ends with the queue
	}
}

// full reports whether a task does not fit beside the others.
func (l *load) full(p *Pending) bool {
	return l.events > 0 && (l.events+len(p.events) > queueEvents || l.bytes+p.size > queueBytes)
}

// makeRoom waits for room while the disk makes progress. The caller holds a.mu.
func (a *appender) makeRoom(p *Pending) bool {
	limit := time.After(a.limits.write)
	for a.full(p) && !a.stuck(a.limits.stall) {
		if a.freed == nil {
			a.freed = make(chan struct{})
		}
		freed := a.freed
		a.mu.Unlock()
		over := false
		select {
		case <-freed:
		case <-limit:
			over = true
		}
		a.mu.Lock()
		if over {
			break
		}
	}
	return !a.full(p)
}

// work runs the queued steps.
func (a *appender) work() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.tasks) > 0 || a.lingers() {
		p := a.tasks[0]
		a.tasks[0] = nil
		a.tasks = a.tasks[1:]
		a.began = time.Now()
		a.mu.Unlock()
		p.do(p)
		close(p.done)
		a.mu.Lock()
		a.events -= len(p.events)
		a.bytes -= p.size
		p.do, p.events, p.written = nil, nil, nil // who waits keeps the step, and needs none of the texts
		if a.freed != nil {
			close(a.freed)
			a.freed = nil
		}
	}
	a.working = false
	if cap(a.tasks) > 64 {
		a.tasks = nil
	}
}

// lingers lets other goroutines run, and reports whether they queued a step: continuing costs less than starting
// again. The caller holds a.mu.
func (a *appender) lingers() bool {
	a.began = time.Time{}
	a.mu.Unlock()
	runtime.Gosched()
	a.mu.Lock()
	return len(a.tasks) > 0
}

// stuck reports whether a step takes longer than the limit.
func (s *steps) stuck(limit time.Duration) bool {
	for _, began := range s.beside {
		if time.Since(began) > limit {
			return true
		}
	}
	return !s.began.IsZero() && time.Since(s.began) > limit
}

// enter records the start of a step outside of the queue; leave ends it.
func (a *appender) enter() (leave func()) {
	p := new(Pending)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.beside == nil {
		a.beside = map[*Pending]time.Time{}
	}
	a.beside[p] = time.Now()
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.beside, p)
	}
}

// last queues the last step: later steps fail with ErrClosed. It returns nil if there was already a last step.
func (a *appender) last(do func(*Pending)) *Pending {
	p := &Pending{do: do, done: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return nil
	}
	a.closing = true
	a.push(p)
	return p
}

// handover decides who releases the result of a step when the caller may give up first: the second side to claim it.
type handover struct{ claimed atomic.Bool }

// claim reports whether the other side has not claimed it yet.
func (h *handover) claim() bool { return h.claimed.CompareAndSwap(false, true) }

// within runs a step that needs no order outside of the queue, and waits at most limit for it. A stuck step ends when
// the disk continues; then late, if not nil, releases its unused result.
func within[T any](limit time.Duration, do func() (T, error), late func(T)) (T, error) {
	var value T
	var err error
	var made handover
	done := make(chan struct{})
	go func() {
		defer close(done)
		if value, err = do(); !made.claim() && err == nil && late != nil {
			late(value)
		}
	}()
	select {
	case <-done:
		return value, err
	case <-time.After(limit):
		if made.claim() {
			var none T
			return none, ErrPending
		}
		return value, err
	}
}
