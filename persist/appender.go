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

// appender is the queue in front of a session's disk. One goroutine at a time works on it, in order, so that a disk that
// stalls stops that goroutine and no caller. The goroutine ends when the queue is empty.
type appender struct {
	mu      sync.Mutex
	tasks   []*Pending
	events  int                    // of the tasks, until they are done
	bytes   int                    // of these events
	working bool                   // the goroutine is there
	began   time.Time              // of the task that it works on; zero: none
	beside  map[*Pending]time.Time // when steps began that others do beside the queue
	freed   chan struct{}          // closed when a task is done; nil: no caller waits for room
	closing bool
}

// What the queue holds at most. A caller that finds it full waits for room, and gives up where the disk stalls: its events are
// dropped then, and counted in a gap record.
const (
	queueEvents = 4096
	queueBytes  = 8 << 20
)

const (
	// stallAfter is how long one step of the disk takes until the disk is called stalled.
	stallAfter = 300 * time.Millisecond
	// stallLimit is how long a caller without a deadline waits for a stalled disk.
	stallLimit = 10 * time.Second
	// writeLimit is how long Append, payloads and Close wait for a stalled disk.
	writeLimit = time.Second
)

// ErrPending says that a disk has not answered yet. The records are in memory and are written, in order, when it does.
var ErrPending = agenttool.Failure(agenttool.DependencyUnavailable, "journal_stalled",
	"the disk of the session log does not answer; records are kept in memory until it does, and lost if toolhost ends before")

// Pending is a step on its way to the disk: a group of events that [Store.Submit] queued.
type Pending struct {
	do     func(*Pending)
	events [][]byte
	told   func(first int64)
	size   int
	lost   int // events that this step counts as lost; it has none
	done   chan struct{}

	// Set before done is closed.
	first int64
	err   error
}

// Wait returns what Append does, as soon as the events are written or it is certain that they cannot be, and [ErrPending] after
// limit.
func (p *Pending) Wait(limit time.Duration) (first int64, err error) {
	if p.soon() {
		return p.first, p.err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.first, p.err
	case <-timer.C:
		return 0, ErrPending
	}
}

// soon lets the goroutine that was just started run, and reports whether the step is done: most often the write is, and the wait needs
// neither a timer nor another thread.
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

// within waits until the step is done, ctx ends or, where ctx has no deadline, the disk has stalled for stallLimit.
func (p *Pending) within(ctx context.Context) error {
	if p.soon() {
		return p.err
	}
	limit := (<-chan time.Time)(nil)
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(stallLimit)
		defer timer.Stop()
		limit = timer.C
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

// put queues a step. It fails with ErrPending if there is no room for it, and with ErrClosed behind the last.
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

// push queues a step whether there is room or not. The caller holds a.mu.
func (a *appender) push(p *Pending) {
	a.tasks = append(a.tasks, p)
	a.events += len(p.events)
	a.bytes += p.size
	if !a.working {
		a.working = true
		go a.work() // ends with the queue
	}
}

func (a *appender) full(p *Pending) bool {
	return a.events > 0 && (a.events+len(p.events) > queueEvents || a.bytes+p.size > queueBytes)
}

// makeRoom waits for room while the disk makes progress. The caller holds a.mu.
func (a *appender) makeRoom(p *Pending) bool {
	timer := time.NewTimer(writeLimit)
	defer timer.Stop()
	for a.full(p) && !a.stalledLocked() {
		if a.freed == nil {
			a.freed = make(chan struct{})
		}
		freed := a.freed
		a.mu.Unlock()
		over := false
		select {
		case <-freed:
		case <-timer.C:
			over = true
		}
		a.mu.Lock()
		if over {
			break
		}
	}
	return !a.full(p)
}

// work does what is queued.
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

// lingers lets others run, and reports whether they queued a step: to go on costs less than to start again. The caller holds a.mu.
func (a *appender) lingers() bool {
	a.began = time.Time{}
	a.mu.Unlock()
	runtime.Gosched()
	a.mu.Lock()
	return len(a.tasks) > 0
}

// stalled reports whether the disk has worked on one step for too long.
func (a *appender) stalled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stalledLocked()
}

func (a *appender) stalledLocked() bool {
	for _, began := range a.beside {
		if time.Since(began) > stallAfter {
			return true
		}
	}
	return !a.began.IsZero() && time.Since(a.began) > stallAfter
}

// enter notes that a step beside the queue begins, which leave ends.
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

// last queues the last step: what comes after it fails with ErrClosed. It returns nil if there was one already.
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

// handover decides who owns the result of a step whose caller may give up first: the side that claims it second releases it.
type handover struct{ claimed atomic.Bool }

// claim reports whether the other one has not claimed it yet.
func (h *handover) claim() bool { return h.claimed.CompareAndSwap(false, true) }

// within runs a step that needs no order beside the queue, and waits for limit at most. What is stuck ends when the disk goes on;
// then late, if it is not nil, gives back what was made for nothing.
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
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return value, err
	case <-timer.C:
		if made.claim() {
			var none T
			return none, ErrPending
		}
		return value, err
	}
}
