package proc

import (
	"sync"
	"time"
)

const (
	patience = 100 * time.Millisecond
	maxStuck = 32 // threads that processes may cost us for as long as they live
)

// stuck are the processes that a look at has not come back from.
//
// Who reads another process's memory, or asks for the state of a file that it has open, waits for whoever backs them: a
// file system of the job's own making, for one, that answers when it likes. Such a look is left behind with its thread;
// the same process is not looked at again before it comes back, and nobody is when too many are out.
type stuck struct {
	mu   sync.Mutex
	pids map[int]bool
}

// looks is the one variable of the package: what may be lost is bounded for the program, not for a caller.
var looks = stuck{pids: map[int]bool{}}

// within returns what look finds out of a process, or false when that takes too long. look may still run then: it must
// not touch what its caller uses.
func within[T any](pid int, look func() T) (found T, ok bool) {
	if !looks.may(pid) {
		return found, false
	}
	back := make(chan T, 1)
	go func() {
		found := look()
		back <- found
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case found = <-back:
		return found, true
	case <-timer.C:
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
