package sandbox

import (
	"os"
	"slices"
	"sync"
	"time"
)

// patience is how long may take what takes milliseconds.
const patience = 20 * time.Second

// closePatience is how long the end of a session waits for its processes. The kernel may hold one that was killed.
const closePatience = 3 * time.Second

// running are the processes of a session. The zero value is empty.
type running struct {
	mu     sync.Mutex
	closed bool
	all    map[*Process]int // with the number of each
	began  int
	left   sync.WaitGroup // one for each
}

// join takes note of a process that is about to be started, until leave is called.
func (r *running) join(p *Process) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, os.ErrClosed
	}
	if r.all == nil {
		r.all = map[*Process]int{}
	}
	r.began++
	r.all[p] = r.began
	r.left.Add(1)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, p)
		r.left.Done()
	}, nil
}

// inMounts returns the one whose processes have a mount namespace, nil if there is none.
func (r *running) inMounts(name string) *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	var latest *Process // a name may be another's as soon as the helper that had it has ended
	for p, began := range r.all {
		if name != "" && p.livesIn(name) && (latest == nil || began > r.all[latest]) {
			latest = p
		}
	}
	return latest
}

// confined returns the names of those that run in the namespaces of the session.
func (r *running) confined() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.all {
		if name := p.confinedAs(); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// count returns how many processes run.
func (r *running) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// close kills all and lets no other join. It waits for their end, but not for long: a process that is stuck in the kernel
// ends later.
func (r *running) close() {
	r.mu.Lock()
	r.closed = true
	for p := range r.all {
		p.Kill()
	}
	r.mu.Unlock()
	none := make(chan struct{})
	go func() { // ends with the last of them
		r.left.Wait()
		close(none)
	}()
	select {
	case <-none:
	case <-time.After(closePatience):
	}
}
