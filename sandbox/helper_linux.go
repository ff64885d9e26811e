package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// helper is our end of a command's helper process.
type helper struct {
	control *net.UnixConn
	first   bool               // it is in the session's namespaces
	inWorld bool               // it is the first process of no pid namespace
	bound   chan syscall.Errno // its answer to a bind
	lending sync.Mutex         // one loan at a time
	lent    chan syscall.Errno // its answer to a loan

	mu      sync.Mutex
	process *os.File // its pidfd; nil until it is started
}

func (h *helper) setProcess(pidfd *os.File) {
	h.mu.Lock()
	h.process = pidfd
	h.mu.Unlock()
}

// send writes one message. The helper may have been stopped, so patience limits how long that takes.
func (h *helper) send(patience time.Duration, kind byte, text string) {
	_ = h.control.SetWriteDeadline(time.Now().Add(patience))
	_, _ = h.control.Write(append([]byte{kind}, text...))
}

// coverPatience is enough for a machine that stands still for a while: a write whose deadline has passed before it begins writes nothing.
const coverPatience = 2 * time.Second

// cover covers a path once more. A helper that does not read is about to end.
func (h *helper) cover(c covering) {
	h.send(coverPatience, enter.SaySeal, string(c.op)+"\x00"+c.path)
}

// covering is a path that is covered in a sandbox, and the operation that covers it.
type covering struct {
	path string
	op   enter.Op
}

// bind binds a socket to its name where the command sees it. The supervisor asks for one at a time, since nothing else uses names
// meanwhile.
func (h *helper) bind(b notify.Binding, gone <-chan struct{}) error {
	select {
	case <-h.bound: // the answer to one that timed out
	default:
	}
	message := append([]byte{enter.SayBind}, strconv.Itoa(b.Umask)+"\x00"+b.Name...)
	_ = h.control.SetWriteDeadline(time.Now().Add(patience))
	if _, _, err := h.control.WriteMsgUnix(message, unix.UnixRights(b.Socket, b.Dir), nil); err != nil {
		return syscall.EACCES
	}
	switch errno, ok := h.await(h.bound, gone); {
	case !ok:
		return syscall.EACCES
	case errno != 0:
		return errno
	}
	return nil
}

// await waits for the helper's answer to a message, until it is gone.
func (h *helper) await(answer <-chan syscall.Errno, gone <-chan struct{}) (errno syscall.Errno, ok bool) {
	select {
	case errno = <-answer:
		return errno, true
	case <-gone:
	case <-time.After(patience):
	}
	return 0, false
}

// pass passes an answer of the helper on.
func pass(to chan<- syscall.Errno, errno string) {
	number, _ := strconv.Atoi(errno)
	select {
	case to <- syscall.Errno(number):
	default: // nobody asked, or has given up
	}
}

// kill ends every process of the command. With the first process of a pid namespace the kernel ends the others. Another helper ends them
// itself when it sees that its socket is closed; it must not be stopped then.
func (h *helper) kill() {
	_ = h.control.CloseRead()
	_ = h.control.CloseWrite()
	if h.first && !h.inWorld {
		h.signal(unix.SIGKILL)
	} else {
		h.signal(unix.SIGCONT)
	}
}

// signal sends a signal to the helper alone.
func (h *helper) signal(sig syscall.Signal) {
	h.withProcess(func(fd int) { _ = unix.PidfdSendSignal(fd, sig, nil, 0) })
}

func (h *helper) pulse() *pulse {
	return &pulse{pid: h.pid, proceed: func() { h.signal(unix.SIGCONT) }}
}

// pid is the helper's number, 0 when it has ended.
func (h *helper) pid() int {
	pid := 0
	h.withProcess(func(fd int) { pid = pidOf(fd) })
	return pid
}

// pidOf is the number of the process that a pidfd stands for, 0 when it has ended.
func pidOf(pidfd int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pidfd))
	_, rest, _ := strings.Cut(string(b), "\nPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(line)
	return max(pid, 0)
}

// withProcess calls do with the helper's pidfd, unless that is closed or does not exist yet.
func (h *helper) withProcess(do func(fd int)) {
	h.mu.Lock()
	process := h.process
	h.mu.Unlock()
	if raw, err := process.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// awaitExit waits until the helper has ended. The first process of a pid namespace ends when the namespace is empty.
func (h *helper) awaitExit() {
	h.withProcess(func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, -1); err != unix.EINTR {
				return
			}
		}
	})
}

func (h *helper) close() {
	h.control.Close()
	h.process.Close()
}
