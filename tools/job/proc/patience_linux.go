package proc

import (
	"sync"
	"time"
)

const (
	patience = 100 * time.Millisecond
	maxStuck = 32 // maximum number of threads blocked on processes
)

// stuck is the set of processes with an unfinished look.
//
// Reading another process's memory, or the state of its open files, may block on the file system behind them, which
// may be one that the job itself serves and that answers at will. Such a look is abandoned with its thread. The same
// process is not examined again before it returns, and no process is if too many looks are stuck.
type stuck struct {
	mu   sync.Mutex
	pids map[int]bool
}

// looks is the only variable of the package: the number of lost threads is bounded for the whole program.
var looks = stuck{pids: map[int]bool{}}

// within returns the result of look, or false if that takes too long. look may then still run, so it must not access
// data that its caller uses.
func within[T any](pid int, look func() T) (found T, ok bool) {
	if !looks.may(pid) {
		return found, false
	}
	back := make(chan T, 1)
	go func() {
		found := look()
		back <- found
	}()
	select {
	case found = <-back:
		return found, true
	case <-time.After(patience):
	}
	looks.leave(pid, true)
	go func() {
		<-back
		looks.leave(pid, false)
	}()
	return found, false
}

func (s *stuck) may(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pids) < maxStuck && !s.pids[pid]
}

func (s *stuck) leave(pid int, behind bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if behind {
		s.pids[pid] = true
	} else {
		delete(s.pids, pid)
	}
}
