package notify

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of opens that wait for the other end of a pipe: how many of one session, how many of one command whatever the others have, and the time
// between two looks.
const (
	maxWaits     = 256
	keptWaits    = 16
	shortestLook = time.Millisecond
	longestLook  = 50 * time.Millisecond
)

// waits are the opens of a session that cannot be done yet. One thread, which is there while any waits, tries them in turn.
type waits struct {
	mu      sync.Mutex
	waiting []*request
	looking bool
	added   bool // since the last look
}

// begin has a call wait until its pipe can be opened. It does not block itself.
func (ws *waits) begin(r *request) error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	own := 0
	for _, other := range ws.waiting {
		if other.l == r.l {
			own++
		}
	}
	if len(ws.waiting) >= maxWaits && own >= keptWaits {
		return r.l.answer(r.n, Verdict(unix.EAGAIN))
	}
	waiting := &request{source: source{l: r.l, n: r.n, from: newCaller(r.n)}, call: r.call, arguments: arguments{flags: r.flags}, openedFile: openedFile{fd: -1}, pausing: pausing{waits: r.waits}}
	r.waits = -1
	ws.waiting, ws.added = append(ws.waiting, waiting), true
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
	ws.waiting = slices.DeleteFunc(ws.waiting, func(r *request) bool {
		if r.l == l {
			r.leave()
		}
		return r.l == l
	})
}

// look tries again and again what waits. The less happens, the more seldom it looks.
func (ws *waits) look() {
	w := newWorker()
	for pause := shortestLook; ; pause = min(2*pause, longestLook) {
		time.Sleep(pause)
		ws.mu.Lock()
		if ws.added {
			pause, ws.added = shortestLook, false
		}
		ws.waiting = slices.DeleteFunc(ws.waiting, func(r *request) bool {
			r.w = w
			if !r.opensNow() {
				return false
			}
			r.leave()
			return true
		})
		if len(ws.waiting) == 0 {
			ws.looking = false
			ws.mu.Unlock()
			return
		}
		ws.mu.Unlock()
	}
}

// opensNow tries to open the very thing that was judged. It reports whether the wait is over: the call was answered, or its caller has gone.
func (r *request) opensNow() bool {
	const naming = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	if !r.l.valid(r.n.id) {
		return true
	}
	fd, err := unix.Open(atProc(r.waits), (r.flags|ourFlags)&^naming, 0)
	switch err {
	case unix.ENXIO, unix.EWOULDBLOCK:
		return false
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
