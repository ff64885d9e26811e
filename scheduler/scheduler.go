// Package scheduler says which calls run beside each other. It hands out slots and path locks; it starts nothing and
// knows no tools.
//
//	s := scheduler.New(10)
//	t := s.Enqueue(scheduler.Request{Locks: scheduler.Locks(call.Facts(), workspace)})
//	if err := t.Wait(ctx); err != nil { … } // why ctx ended; nothing is held
//	defer t.Release()
//
// Calls are served in the order of their admission. A call starts when no running call and no call before it in
// the line has a lock that conflicts with its own, a slot is free and its group has room. So two writers of one file keep
// their order, a writer is never starved by readers that come after it, and a call without conflicts waits only for a slot.
//
// A call takes its place before its locks are known, so that preparing it does not cost it its turn:
//
//	t := s.Admit(nil)              // the place; every later call waits behind it
//	t.Expect(locks)                // later calls without a conflicting lock may pass
//	t.Enter(locks)                 // from here on it can start
//	err := t.Wait(ctx)
//	defer t.Release()
//
// Locks hold between the calls of one scheduler only, and a path is a spelling: two hosts, two hard links or two
// spellings on a file system that folds case are beyond it. Content checks and file locks guard those.
//
// Agent Tool v0.2.0, "Scheduling" (AT-196, AT-209).
package scheduler

import (
	"context"
	"errors"
	"slices"
	"sync"

	"toolhost/agenttool"
)

// DefaultMaxParallel is how many calls run at once by default.
const DefaultMaxParallel = 10

// Scheduler hands out slots and locks. It is safe for use by several goroutines.
type Scheduler struct {
	mu      sync.Mutex
	max     int
	running []*entry
	stuck   int      // of them, without a slot
	queue   []*entry // in the order of asking
}

// Group is a batch of calls with a limit of its own, below that of its scheduler.
type Group struct {
	scheduler *Scheduler
	max       int // 0: none
	running   int // guarded by scheduler.mu
}

// Request names the resources of a running call. The zero value needs a slot.
type Request struct {
	Locks []agenttool.Lock // a path that is not absolute stands for all paths
	Group *Group           // nil: none; else made by the same scheduler
}

type state uint8

const (
	admitted state = iota // it has a place, and its locks are not known
	expected              // its locks are known, but it does not ask to start yet
	waiting
	running
	done
)

// entry is one request, from its admission to its release.
type entry struct {
	locks   []agenttool.Lock // normalised
	group   *Group
	state   state
	stuck   bool          // it runs, and has given its slot back
	blocker *entry        // the entry that it was last found to wait for
	start   chan struct{} // closed when it runs or is given up
}

// New returns a Scheduler that lets at most maxParallel calls run at once; 0 or less is DefaultMaxParallel.
func New(maxParallel int) *Scheduler {
	if maxParallel <= 0 {
		maxParallel = DefaultMaxParallel
	}
	return &Scheduler{max: maxParallel}
}

// Group returns a new group of at most max running calls; 0 or less is no limit. A group of one is serial: its calls
// start in the order of their requests, even when a later one could start sooner.
func (s *Scheduler) Group(max int) *Group {
	return &Group{scheduler: s, max: max}
}

// Ticket is a place in the line, and then the slot and the locks that it led to.
type Ticket struct {
	scheduler *Scheduler
	entry     *entry
}

// Admit takes a place in the line for a call whose locks are not known yet: no later call starts before the ticket says
// more. The caller must call Release on the ticket.
func (s *Scheduler) Admit(g *Group) *Ticket {
	if g != nil && g.scheduler != s {
		panic("scheduler: a group belongs to the scheduler that made it")
	}
	e := &entry{group: g, start: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, e)
	return &Ticket{s, e}
}

// Expect says which locks the call will need, as far as is known. Later calls that need no conflicting lock may pass it.
func (t *Ticket) Expect(locks []agenttool.Lock) { t.scheduler.declare(t.entry, locks, expected) }

// Enter asks to start with the locks. It reports false if the ticket was released.
func (t *Ticket) Enter(locks []agenttool.Lock) bool {
	return t.scheduler.declare(t.entry, locks, waiting)
}

// declare moves an entry that has not started to a state, with its locks, and starts every call that may start now.
func (s *Scheduler) declare(e *entry, locks []agenttool.Lock, to state) bool {
	locks = normalLocks(locks)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.state >= running {
		return false
	}
	e.locks, e.state, e.blocker = locks, to, nil
	for _, other := range s.queue {
		if other.blocker == e {
			other.blocker = nil
		}
	}
	s.startReady()
	return true
}

// Enqueue takes a place in the line and asks to start. The caller must call Release on the ticket, whether it waited for
// it or not.
func (s *Scheduler) Enqueue(r Request) *Ticket {
	t := s.Admit(r.Group)
	t.Enter(r.Locks)
	return t
}

// Started reports whether the call may run: if it is true at once, the call did not have to wait.
func (t *Ticket) Started() bool {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	return t.entry.state == running
}

// Wait returns ErrReleased for a ticket that was released: the call must not run.
var ErrReleased = errors.New("the place in the line was given up")

// Wait returns when the call may run. When ctx ends first, it gives the place up and returns the cause of ctx's end.
// When the ticket is released meanwhile, or was before, it returns [ErrReleased].
func (t *Ticket) Wait(ctx context.Context) error {
	select {
	case <-t.entry.start:
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // also when it was started in the same moment: a cancelled call does not run
		t.Release()
		return context.Cause(ctx)
	}
	if !t.Started() {
		return ErrReleased
	}
	return nil
}

// Release gives slot and locks back, or the place in the line. Calling it again does nothing.
func (t *Ticket) Release() { t.scheduler.end(t.entry, done) }

// Withdraw gives the place in the line back, unless the call runs already.
func (t *Ticket) Withdraw() { t.scheduler.end(t.entry, running) }

// Strand gives the slot of a call back that runs and may never end, such as one that the kernel holds, and whose result nobody waits for any more.
// Until Release no call that writes what it may write starts; all others do.
func (t *Ticket) Strand() {
	s, e := t.scheduler, t.entry
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.state == running && !e.stuck {
		e.stuck = true
		s.stuck++
		e.locks = slices.DeleteFunc(slices.Clone(e.locks), func(l agenttool.Lock) bool { return !l.Write })
		for i := range e.locks {
			e.locks[i].Write = false
		}
		for _, other := range s.queue {
			if other.blocker == e {
				other.blocker = nil
			}
		}
		s.startReady()
	}
}

// BehindStuck reports whether the call waits for one that has given its slot back: see [Ticket.Strand]. It may never start.
func (t *Ticket) BehindStuck() bool {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	for before := t.entry.blocker; before != nil; before = before.blocker {
		if before.stuck {
			return true
		}
	}
	return false
}

// ready reports whether e may start now, where earlier are the calls before it in the line.
func (s *Scheduler) ready(e *entry, earlier []*entry) bool {
	if e.state != waiting || len(s.running)-s.stuck >= s.max || e.group.full() || e.blocker != nil && e.blocker.state != done {
		return false
	}
	blocks := func(other *entry) bool { return conflict(other.locks, e.locks) }
	if i := slices.IndexFunc(s.running, blocks); i >= 0 {
		e.blocker = s.running[i]
		return false
	}
	waitsFor := func(other *entry) bool { return other.group.keepsOrder(e.group) || blocks(other) }
	if i := slices.IndexFunc(earlier, waitsFor); i >= 0 {
		e.blocker = earlier[i]
		return false
	}
	return true
}

func (s *Scheduler) run(e *entry) {
	e.state, e.blocker = running, nil
	s.running = append(s.running, e)
	if e.group != nil {
		e.group.running++
	}
	close(e.start)
}

// end takes e out of the line or of the running calls, unless its state is limit or later, and starts every call that may
// start now. Ending twice is ending once.
func (s *Scheduler) end(e *entry, limit state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.state >= limit:
		return
	case e.state == running:
		s.running = slices.DeleteFunc(s.running, func(other *entry) bool { return other == e })
		if e.stuck {
			s.stuck--
		}
		if e.group != nil {
			e.group.running--
		}
	default:
		s.queue = slices.DeleteFunc(s.queue, func(other *entry) bool { return other == e })
		close(e.start) // a goroutine in Wait learns that the call will not start
	}
	e.state = done
	e.blocker = nil // a chain of ended calls must not be kept alive by the last of them
	s.startReady()
}

// startReady starts every call that may start, the earliest first. No call passes one whose locks are not known, so it
// looks no further than that.
func (s *Scheduler) startReady() {
	kept := 0 // calls of the line that stay in it, as far as was looked
	for i, e := range s.queue {
		if e.state == admitted {
			s.queue = slices.Delete(s.queue, kept, i)
			return
		}
		if s.ready(e, s.queue[:kept]) {
			s.run(e)
			continue
		}
		s.queue[kept] = e
		kept++
	}
	clear(s.queue[kept:])
	s.queue = s.queue[:kept]
}

func (g *Group) full() bool { return g != nil && g.max > 0 && g.running >= g.max }

// keepsOrder reports whether a waiting call of g holds up a later one of the group other.
func (g *Group) keepsOrder(other *Group) bool { return g != nil && g == other && g.max == 1 }
