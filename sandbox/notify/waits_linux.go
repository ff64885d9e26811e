package notify

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of opens that wait for the other end of a pipe: how many of one listener, and the time between two looks.
const (
	maxWaits     = 256
	shortestLook = time.Millisecond
	longestLook  = 50 * time.Millisecond
)

// waits are the opens of a listener that cannot be done yet.
type waits struct {
	l    *Listener
	stop chan struct{}

	mu      sync.Mutex
	waiting int
	all     sync.WaitGroup
}

// begin waits until a pipe can be opened. It does not block itself.
func (ws *waits) begin(r *request) error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.waiting >= maxWaits {
		return ws.l.answer(r.n, Verdict(unix.EAGAIN))
	}
	ws.waiting++
	waiting := &request{source: source{l: r.l, n: r.n, from: newCaller(r.n)}, call: r.call, arguments: arguments{flags: r.flags}, openedFile: openedFile{fd: -1}, pausing: pausing{waits: r.waits}}
	r.waits = -1
	ws.all.Go(func() { // ends when it can be opened, when the caller has gone, or by end
		waiting.w = newWorker()
		ws.wait(waiting)
		ws.mu.Lock()
		ws.waiting--
		ws.mu.Unlock()
	})
	return nil
}

// end gives up all that waits.
func (ws *waits) end() {
	close(ws.stop)
	ws.all.Wait()
}

// wait tries again and again to open the very thing that was judged.
func (ws *waits) wait(r *request) {
	defer r.leave()
	const naming = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	for pause := shortestLook; ; pause = min(2*pause, longestLook) {
		select {
		case <-ws.stop:
			return
		case <-time.After(pause):
		}
		if !r.l.valid(r.n.id) {
			return
		}
		fd, err := unix.Open(atProc(r.waits), (r.flags|ourFlags)&^naming, 0)
		switch err {
		case unix.ENXIO, unix.EWOULDBLOCK:
			continue
		case nil:
			r.fd = fd
			if errno := r.unblock(); errno != 0 {
				_ = r.l.answer(r.n, Verdict(errno))
				return
			}
			_ = r.give() // an error ends the listener, and the next receive returns it
			return
		}
		_ = r.l.answer(r.n, Verdict(errnoOf(err)))
		return
	}
}
