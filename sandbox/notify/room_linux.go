package notify

import "sync/atomic"

// Room bounds what the listeners of one session take of the supervisor's process, whatever its commands do: threads, and descriptors of calls that wait.
// The zero value is ready for use.
type Room struct {
	waits   waits
	threads atomic.Int32 // beyond the first of each listener's workers and connects
}

// maxThreads bounds the threads that the listeners of a session have beside the first of each kind: calls to slow file systems and connects that
// block have the others.
const maxThreads = 40

// takeThread reports whether there is room for one more thread, which is given back then.
func (r *Room) takeThread() bool {
	if r.threads.Add(1) > maxThreads {
		r.threads.Add(-1)
		return false
	}
	return true
}

func (r *Room) giveThread() { r.threads.Add(-1) }
