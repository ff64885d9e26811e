package notify

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Listener serves one filter. It costs a goroutine and a descriptor, and no thread while nothing happens.
type Listener struct {
	file     *os.File
	conn     syscall.RawConn
	judges   Judges
	calls    map[int32]call
	connects connects
	root     rootDir

	closing atomic.Bool
	done    chan struct{}
	err     error // what ended serving too early, when done is closed
}

// Serve takes over fd, the listener that SECCOMP_FILTER_FLAG_NEW_LISTENER gave, and asks judges about each call that
// the filter hands over. That ends, and fd is closed, when the last task of the filter is gone, or by Close, which no
// judge may call. A caller that dies meanwhile is not asked about, or its verdict is dropped. On an error fd stays the
// caller's own.
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
		root:   rootDir{fd: -1},
		done:   make(chan struct{}),
	}
	var err error
	if l.conn, err = l.file.SyscallConn(); err != nil {
		return nil, err // of a file that is closed, which this one is not
	}
	l.connects = connects{l: l, running: map[*dial]struct{}{}}
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

// Done is closed when serving has ended: the last task is gone, or Close was called.
func (l *Listener) Done() <-chan struct{} { return l.done }

// Close ends serving and waits for its end, a running judge included. Calls that the filter hands over from then on
// fail with ENOSYS, so tasks that are still there can write nothing more. Close returns what went wrong in serving, if
// anything did; it may be called again.
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
	defer l.file.Close()
	var err error
	for err == nil {
		var failed error
		err = l.conn.Read(func(fd uintptr) bool {
			var served bool
			served, failed = l.next(int(fd))
			return served || failed != nil
		})
		err = errors.Join(err, failed)
	}
	if !errors.Is(err, errGone) && !l.closing.Load() {
		l.err = err
	}
}

// errGone ends serving: nobody is left who could call.
var errGone = errors.New("no task has the filter")

// next serves one attempt, if one waits. Several may wait behind one event of the poller, and the kernel's receive
// blocks without any, so it is asked first.
func (l *Listener) next(fd int) (served bool, err error) {
	events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if _, err := unix.Poll(events, 0); err != nil {
		return err == unix.EINTR, ignoreEINTR(err)
	}
	switch {
	case events[0].Revents&unix.POLLIN != 0:
	case events[0].Revents != 0:
		return false, errGone
	default:
		return false, nil
	}
	var n notification
	switch err := control(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err {
	case nil:
		if n.data.nr == unix.SYS_CONNECT {
			return true, l.connects.begin(&n)
		}
		return true, l.serveOne(&n)
	case unix.ENOENT, unix.EINTR, unix.EAGAIN: // the caller died before it was read
		return true, nil
	default:
		return false, fmt.Errorf("seccomp receive: %w", err)
	}
}

func ignoreEINTR(err error) error {
	if err == unix.EINTR {
		return nil
	}
	return err
}

// serveOne judges n and answers. What was read of the process counts only if the call still waits afterwards: until
// then its number belongs to no other process, and its memory to the same program.
func (l *Listener) serveOne(n *notification) error {
	verdict := Verdict(unix.ENOSYS) // to a call of which we do not know where its names are
	if c, known := l.calls[n.data.nr]; known {
		rooted := l.root.fd >= 0
		a := l.attempt(n, c)
		if !l.valid(n.id) {
			if !rooted {
				l.root.forget()
			}
			return nil
		}
		verdict = l.judges.Name(a)
	}
	return l.answer(n, verdict)
}

// valid reports whether the caller of a notification still waits.
func (l *Listener) valid(id uint64) bool {
	return l.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)) == nil
}

// answer lets the caller go on. A connect that was done is no call any more that the kernel could continue.
func (l *Listener) answer(n *notification, verdict Verdict) error {
	answer := response{id: n.id, error: -int32(verdict)}
	if verdict == Continue && n.data.nr != unix.SYS_CONNECT {
		answer.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	switch err := l.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer)); err {
	case nil, unix.ENOENT, unix.EINPROGRESS:
		return nil
	default:
		return fmt.Errorf("seccomp answer: %w", err)
	}
}

// control is an ioctl on the listener, unless that is closed.
func (l *Listener) control(request uint, record unsafe.Pointer) error {
	var err error
	if closed := l.conn.Control(func(fd uintptr) { err = control(int(fd), request, record) }); closed != nil {
		return closed
	}
	return err
}

// attempt reads the names of a call.
func (l *Listener) attempt(n *notification, c call) Attempt {
	p := process{pid: int(n.pid), dir: "/proc/" + strconv.Itoa(int(n.pid)), root: &l.root}
	a := Attempt{PID: p.pid, Call: c.name}
	for _, o := range c.operands {
		paths, err := p.names(o, &n.data.args)
		a.Paths = append(a.Paths, paths...)
		if err != nil && a.Cause == nil {
			a.Cause = err
		}
	}
	return a
}

// Program returns the name that the calling thread goes by, at most 15 bytes that it may choose freely, and "" when it
// cannot be read. It may be asked only while the judge has the attempt.
func (a Attempt) Program() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(a.PID) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// notification is struct seccomp_notif, and response struct seccomp_notif_resp, of <linux/seccomp.h>.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	data  struct {
		nr   int32
		arch uint32
		ip   uint64
		args [6]uint64
	}
}

type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// control is an ioctl on the listener.
func control(fd int, request uint, record unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(record))
	if errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}
