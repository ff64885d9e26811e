package notify

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of calls that wait for the other end of a pipe or for a lock: how many of one session, how many of one command whatever the others have,
// and the time between two looks, which take at most a tenth of it.
const (
	maxWaits     = 256
	keptWaits    = 16
	shortestLook = time.Millisecond
	longestLook  = 50 * time.Millisecond
	lookShare    = 10
)

// waits are the calls of a session that cannot be done yet. One thread, which is there while any waits, tries them in turn.
type waits struct {
	mu      sync.Mutex
	waiting []*waiter
	looking bool
	added   bool // since the last look
}

// waiter is a call that waits.
type waiter struct {
	l     *Listener
	n     *notification
	try   func(*worker) (over bool) // does it, if that does not block, and answers
	leave func()                    // gives up what it holds
}

// begin has a call wait. It does not block itself.
func (ws *waits) begin(next *waiter) error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	own := 0
	for _, other := range ws.waiting {
		if other.l == next.l {
			own++
		}
	}
	if len(ws.waiting) >= maxWaits && own >= keptWaits {
		next.leave()
		return next.l.answer(next.n, Verdict(unix.EAGAIN))
	}
	ws.waiting, ws.added = append(ws.waiting, next), true
	if !ws.looking {
		ws.looking = true
		go ws.look() // ends when none waits, as after the end of their listeners
	}
	return nil
}

// end gives up all that waits of a listener.
func (ws *waits) end(l *Listener) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.waiting = slices.DeleteFunc(ws.waiting, func(w *waiter) bool {
		if w.l == l {
			w.leave()
		}
		return w.l == l
	})
}

// look tries again and again what waits. The less happens, the more seldom it looks.
func (ws *waits) look() {
	thread := newWorker()
	for pause := shortestLook; ; pause = min(2*pause, longestLook) {
		time.Sleep(pause)
		ws.mu.Lock()
		if ws.added {
			pause, ws.added = shortestLook, false
		}
		begun := time.Now()
		ws.waiting = slices.DeleteFunc(ws.waiting, func(w *waiter) bool {
			over := !w.l.valid(w.n.id) || w.try(thread)
			if over {
				w.leave()
			}
			return over
		})
		if len(ws.waiting) == 0 {
			ws.looking = false
			ws.mu.Unlock()
			return
		}
		ws.mu.Unlock()
		pause = max(pause, lookShare*time.Since(begun)/2)
	}
}

// waitForOther has an open wait until its pipe can be opened.
func (r *request) waitForOther() error {
	w := &request{source: source{l: r.l, n: r.n, from: newCaller(r.n)}, call: r.call, arguments: arguments{flags: r.flags}, openedFile: openedFile{fd: -1}, pausing: pausing{waits: r.waits}}
	r.waits = -1
	return r.l.judges.Room.waits.begin(&waiter{l: r.l, n: r.n, leave: w.leave, try: func(thread *worker) bool {
		w.w = thread
		return w.opensNow()
	}})
}

// opensNow tries to open the very thing that was judged. It reports whether the wait is over: the call was answered.
func (r *request) opensNow() bool {
	const naming = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	fd, err := unix.Open(atProc(r.waits), (r.flags|ourFlags)&^naming, 0)
	switch err {
	case unix.ENXIO, unix.EWOULDBLOCK:
		if !r.from.interrupted() {
			return false
		}
		err = restart
	case nil:
		r.fd = fd
		if errno := r.unblock(); errno != 0 {
			_ = r.l.answer(r.n, Verdict(errno))
		} else {
			_ = r.give() // an error ends the listener, and the next receive returns it
		}
		return true
	}
	_ = r.l.answer(r.n, Verdict(errnoOf(err)))
	return true
}
