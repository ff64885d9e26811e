package notify

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Listener serves one filter. It costs a goroutine and a descriptor, and no thread while nothing happens.
type Listener struct {
	file   *os.File
	conn   syscall.RawConn
	judges Judges
	calls  map[int32]call
	direct map[int32]directed
	starts map[int32]call
	begun  atomic.Bool // the command's own program was started
	root   rootDir
	helpers
	ending
}

// helpers serve the calls of a listener, and hold those that wait.
type helpers struct {
	workers  workers
	pauses   pauses
	connects connects
}

// ending is how serving ended.
type ending struct {
	closing atomic.Bool
	done    chan struct{}
	err     error // why serving ended too early, once done is closed
}

// Serve takes over fd, the listener that SECCOMP_FILTER_FLAG_NEW_LISTENER gave, and asks judges about each call that
// the filter hands over. Serving ends, and fd is closed, when the last task of the filter has ended, or by Close, which no
// judge may call. If a caller dies meanwhile the judge is not asked, or its verdict is dropped. On an error fd is not
// taken over.
func Serve(fd int, judges Judges) (*Listener, error) {
	if err := checkSizes(); err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // lets the runtime's poller wait
		return nil, fmt.Errorf("seccomp listener: %w", err)
	}
	unix.CloseOnExec(fd)
	l := &Listener{
		file:   os.NewFile(uintptr(fd), "seccomp listener"),
		judges: judges,
		calls:  callsOf(runtime.GOARCH),
		direct: directedCalls(runtime.GOARCH),
		starts: startCalls(runtime.GOARCH),
		root:   rootDir{fd: -1},
		ending: ending{done: make(chan struct{})},
	}
	var err error
	if l.conn, err = l.file.SyscallConn(); err != nil {
		return nil, err // of a file that is closed, which this one is not
	}
	if l.judges.Names == nil {
		l.judges.Names = new(sync.RWMutex)
	}
	l.connects = connects{l: l, running: map[*dial]struct{}{}}
	if l.judges.Room == nil {
		l.judges.Room = new(Room)
	}
	l.workers.l = l
	l.pauses.init(l)
	go l.serve() // ends by Close or with the last task; done tells
	return l, nil
}

// checkSizes refuses a kernel whose records are not the ones that this package reads.
func checkSizes() error {
	var sizes struct{ notif, resp, data uint16 }
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&sizes)))
	if errno != 0 {
		return fmt.Errorf("seccomp notification: %w", errno)
	}
	if uintptr(sizes.notif) != unsafe.Sizeof(notification{}) || uintptr(sizes.resp) != unsafe.Sizeof(response{}) {
		return fmt.Errorf("seccomp notification: the kernel's records have %d and %d bytes", sizes.notif, sizes.resp)
	}
	return nil
}

// Close ends serving and waits for its end, a running judge included. Calls that the filter hands over from then on
// fail with ENOSYS, so tasks that still run can write nothing more. Close returns the error of serving, if there was one;
// it may be called again.
func (l *Listener) Close() error {
	l.closing.Store(true)
	_ = l.file.Close()
	<-l.done
	return l.err
}

func (l *Listener) serve() {
	defer close(l.done)
	defer l.root.forget()
	defer l.connects.end()
	defer l.judges.Room.waits.end(l)
	defer l.pauses.end()
	defer l.file.Close()
	var err error
	for err == nil {
		var first *notification
		var failed error
		err = l.conn.Read(func(fd uintptr) bool {
			first, failed = l.quick(int(fd))
			return first != nil || failed != nil
		})
		if err = errors.Join(err, failed); err == nil {
			err = l.workers.run(first)
		}
	}
	if !errors.Is(err, errGone) && !l.closing.Load() {
		l.err = err
		if l.judges.Lost != nil {
			l.judges.Lost(err)
		}
	}
}

// errGone ends serving: no task is left that could call.
var errGone = errors.New("no task has the filter")

// quick serves calls that need no thread, and returns the first that does; nil when none waits.
func (l *Listener) quick(fd int) (*notification, error) {
	for {
		n, more, err := receive(fd, 0)
		if err != nil || !more {
			return nil, err
		}
		if n == nil {
			continue
		}
		if c, ok := l.direct[n.data.nr]; ok {
			if err := l.judgeDirected(n, c); err != nil {
				return nil, err
			}
			continue
		}
		if !l.lacksTerminal(n) {
			return n, nil
		}
		if err := l.answer(n, Verdict(unix.ENXIO)); err != nil {
			return nil, err
		}
	}
}

// flagContinue is SECCOMP_USER_NOTIF_FLAG_CONTINUE.
const flagContinue = 1

// judgeDirected answers a call that acts on a process by its number.
func (l *Listener) judgeDirected(n *notification, c directed) error {
	verdict := Verdict(unix.EPERM)
	if l.judges.Direct != nil {
		d := Directed{PID: int(n.pid), Call: c.name, Target: int(int32(n.data.args[c.target]))}
		if c.name == "kill" {
			d.Signal = int(int32(n.data.args[1]))
		}
		verdict = l.judges.Direct(d)
	}
	switch verdict {
	case Continue:
		return l.send(response{id: n.id, flags: flagContinue})
	case Done:
		verdict = Allow
	}
	return l.answer(n, verdict)
}

// lacksTerminal reports whether a call opens /dev/tty of a process that has none, as every shell does when it starts.
func (l *Listener) lacksTerminal(n *notification) bool {
	c := l.calls[n.data.nr]
	if c.name != "open" && c.name != "openat" {
		return false
	}
	o, from := c.operands[0], newCaller(n)
	if name, err := from.text(n.data.args[o.path]); err != nil || name != "/dev/tty" {
		return false
	}
	device, err := from.terminal()
	return err == nil && device == 0 && l.valid(n.id)
}

// take serves one call on the thread of a worker.
func (l *Listener) take(w *worker, n *notification) error {
	if n.data.nr == unix.SYS_CONNECT {
		return l.connects.begin(connecting{n: *n})
	}
	if c, ok := l.direct[n.data.nr]; ok {
		return l.judgeDirected(n, c)
	}
	if isLock(n) {
		return l.takeLock(n)
	}
	if c, ok := l.starts[n.data.nr]; ok {
		return l.start(w, n, c)
	}
	c, known := l.calls[n.data.nr]
	if !known { // a call whose names are at unknown places
		return l.answer(n, Verdict(unix.ENOSYS))
	}
	return l.do(newRequest(l, w, n, c))
}

// do does a call and answers, now or later.
func (l *Listener) do(r *request) error {
	defer r.leave()
	n := r.n
	if r.w.err != nil {
		return l.answer(n, Verdict(unix.EPERM))
	}
	switch errno := r.run(); errno {
	case gone:
		return nil
	case later:
		return r.waitForOther()
	case paused:
		return l.pauses.begin(r)
	case 0:
		if r.fd >= 0 {
			return r.give()
		}
		return l.answer(n, Allow)
	default:
		return l.answer(n, Verdict(errno))
	}
}

// valid reports whether the caller of a notification still waits.
func (l *Listener) valid(id uint64) bool {
	return l.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// answer lets the caller go on, with the result of its call.
func (l *Listener) answer(n *notification, verdict Verdict) error {
	if short := unix.Errno(verdict); (short == unix.EMFILE || short == unix.ENFILE) && l.judges.Short != nil {
		l.judges.Short(short)
	}
	return l.send(response{id: n.id, error: -int32(verdict)})
}

func (l *Listener) send(answer response) error {
	switch err := l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer)); err {
	case nil, unix.ENOENT, unix.EINPROGRESS:
		return nil
	default:
		return fmt.Errorf("seccomp answer: %w", err)
	}
}

// put gives the caller a descriptor of its own, whose number is returned.
func (l *Listener) put(n *notification, fd int, flags uint32) (number int, errno syscall.Errno) {
	record := struct {
		id                     uint64
		flags, from, to, being uint32
	}{id: n.id, from: uint32(fd), being: flags}
	closed := l.conn.Control(func(listener uintptr) {
		r, _, err := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_ADDFD, uintptr(unsafe.Pointer(&record)))
		number, errno = int(r), err
	})
	if closed != nil {
		return -1, unix.ENOSYS
	}
	return number, errno
}

// control is an ioctl on the listener, unless that is closed.
func (l *Listener) control(request uint, record unsafe.Pointer) error {
	var err error
	if closed := l.conn.Control(func(fd uintptr) { err = control(int(fd), request, record) }); closed != nil {
		return closed
	}
	return err
}

// Program returns the name of the calling thread, at most 15 bytes that the thread chooses, and "" if it
// cannot be read. It is valid only while the judge has the attempt.
func (a Attempt) Program() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(a.PID) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}
