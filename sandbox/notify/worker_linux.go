package notify

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bounds of one listener's threads. One serves all calls as long as none of them takes long; there are more while calls
// wait for a slow file system.
const (
	maxWorkers = 16
	// idle is how long a thread waits for the next call before it ends.
	idle = 100 * time.Millisecond
	// stuck is how long the threads may serve nothing, while calls wait, before there is one more.
	stuck = 20 * time.Millisecond
)

// worker is a thread that does calls. It has no capabilities, and a umask and a working directory of its own.
type worker struct {
	umask int
	err   error // why it can do nothing
}

// newWorker makes one of the calling thread, which ends with its goroutine.
func newWorker() *worker {
	runtime.LockOSThread()
	w := &worker{umask: -1}
	if w.err = unix.Unshare(unix.CLONE_FS); w.err != nil {
		return w
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		w.err = errno
	}
	return w
}

// takeUmask gives the thread the umask of a process.
func (w *worker) takeUmask(mask int) {
	if w.umask != mask {
		unix.Umask(mask)
		w.umask = mask
	}
}

// workers are the threads of a listener.
type workers struct {
	l       *Listener
	receive sync.Mutex // one thread at a time waits for a call

	served  atomic.Uint64
	mu      sync.Mutex
	running int
	empty   chan struct{} // closed when none is left
}

// run serves a call, and others until none has come for a while. It returns the error that ended the listener, nil if none did.
func (ws *workers) run(first *notification) error {
	failed := make(chan error, maxWorkers)
	ws.empty = make(chan struct{})
	ws.start(first, failed)
	tick := time.NewTicker(stuck)
	defer tick.Stop()
	for before := ws.served.Load(); ; {
		select {
		case <-ws.empty:
			select {
			case err := <-failed:
				return err
			default:
				return nil
			}
		case <-tick.C:
			now := ws.served.Load()
			if now == before && ws.pending() {
				ws.start(nil, failed)
			}
			before = now
		}
	}
}

// start adds a thread, unless there are too many or none is left.
func (ws *workers) start(first *notification, failed chan<- error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	select {
	case <-ws.empty:
		return
	default:
	}
	if ws.running >= maxWorkers || ws.running > 0 && !ws.l.judges.Room.takeThread() {
		return
	}
	ws.running++
	go func() { // ends when there is nothing to do, or the listener closes
		if err := ws.serve(newWorker(), first); err != nil {
			failed <- err
		}
		ws.mu.Lock()
		defer ws.mu.Unlock()
		if ws.running--; ws.running == 0 {
			close(ws.empty)
		} else {
			ws.l.judges.Room.giveThread()
		}
	}()
}

// serve does call after call on one thread.
func (ws *workers) serve(w *worker, n *notification) error {
	for more := true; more; {
		if n != nil {
			if err := ws.l.take(w, n); err != nil {
				return err
			}
			ws.served.Add(1)
		}
		var err error
		if n, more, err = ws.next(); err != nil {
			return err
		}
	}
	return nil
}

// next waits for a call, as only one thread does. A receive without a poll before might block for ever.
func (ws *workers) next() (n *notification, more bool, err error) {
	ws.receive.Lock()
	defer ws.receive.Unlock()
	closed := ws.l.conn.Control(func(fd uintptr) {
		n, more, err = receive(int(fd), int(idle.Milliseconds()))
	})
	if closed != nil {
		return nil, false, closed
	}
	return n, more, err
}

// pending reports whether a call waits that no thread has taken.
func (ws *workers) pending() (waiting bool) {
	_ = ws.l.conn.Control(func(fd uintptr) {
		events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(events, 0)
		waiting = err == nil && n > 0 && events[0].Revents&unix.POLLIN != 0
	})
	return waiting
}

// receive takes a call that the filter hands over. Without one it waits so many milliseconds, and more is false when
// none came. The notification is nil when the caller died before it was read.
func receive(fd, wait int) (n *notification, more bool, err error) {
	events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(events, wait); err != nil {
		return nil, err == unix.EINTR, ignoreEINTR(err)
	}
	switch {
	case events[0].Revents&unix.POLLIN != 0:
	case events[0].Revents != 0:
		return nil, false, errGone
	default:
		return nil, false, nil
	}
	n = new(notification)
	switch err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(n)); err {
	case nil:
		return n, true, nil
	case unix.ENOENT, unix.EINTR, unix.EAGAIN:
		return nil, true, nil
	default:
		return nil, false, fmt.Errorf("seccomp receive: %w", err)
	}
}

// Room bounds what the listeners of one session take of the supervisor's process, whatever its commands do: threads, and descriptors of calls that wait.
// The zero value is ready for use.
type Room struct {
	waits   waits
	threads atomic.Int32 // beyond the first of each listener's workers and connects
	fewer   atomic.Int32 // by how many there may be fewer than maxThreads
}

// Bound says how many threads the listeners may have where the supervisor's process can have few.
func (r *Room) Bound(threads int) {
	r.fewer.Store(int32(min(max(maxThreads-threads, 0), maxThreads)))
}

// maxThreads bounds the threads that the listeners of a session have beside the first of each kind: calls to slow file systems and connects that
// block have the others.
const maxThreads = 40

// takeThread reports whether there is room for one more thread, which is given back then.
func (r *Room) takeThread() bool {
	if r.threads.Add(1) > maxThreads-r.fewer.Load() {
		r.threads.Add(-1)
		return false
	}
	return true
}

func (r *Room) giveThread() { r.threads.Add(-1) }
