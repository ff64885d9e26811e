package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
)

// holder is the process that holds a session's namespaces and clones its helpers.
type holder struct {
	mu      sync.Mutex // one message at a time
	socket  *net.UnixConn
	proxy   net.Listener // of the session's proxy, on its loopback; nil if there is none
	sockets *sockets
	devices *os.File // the /dev of its commands
	world   world
	failed  []failedLayer
	walls   walls
	process *os.Process
	exited  chan struct{}
	hung    chan struct{} // closed when it did not answer, and was killed if it had not been
	given   sync.Once     // up: closes hung
}

// holders has the holder of a session. The zero value has none yet.
type holders struct {
	mu      sync.Mutex
	current *holder
	closed  bool
	lost    []string // names of commands that ended with a holder, and of whom no command was told yet
}

// takeLost returns the names of the commands that ended with a holder, once.
func (hs *holders) takeLost() []string {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	names := hs.lost
	hs.lost = nil
	return names
}

// get returns the holder, and starts one if none runs. The end of the last one ended every command that ran inside it; inside names them.
func (hs *holders) get(start func() (*holder, error), inside func() []string) (*holder, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.closed {
		return nil, os.ErrClosed
	}
	if old := hs.current; old != nil {
		if !old.over() && !old.hungUp() {
			return old, nil
		}
		hs.lost = append(hs.lost, inside()...)
		hs.current = nil
		old.release()
		select { // its processes count until they are gone
		case <-old.exited:
		case <-time.After(killPatience):
		}
		go old.close() // ends with it: the kernel may hold a process that was killed
	}
	h, err := start()
	hs.current = h
	return h, err
}

// retire ends the holder, so that the next command starts another. It returns false after the session has closed.
func (hs *holders) retire() bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.current != nil {
		hs.current.close()
		hs.current = nil
	}
	return !hs.closed
}

// close makes get fail from now on. It returns the holder, nil for none.
func (hs *holders) close() *holder {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.current
	hs.current, hs.closed = nil, true
	return h
}

// startHolder clones the holder into new namespaces. It dies with us: its socket closes, and the kernel kills it when the
// thread that started it ends, which is the host's end since that thread does nothing but wait for it.
func startHolder(s *Session) (*holder, error) {
	plan, err := planFile(placesPlan(s.places, &s.layers, s.dirs.cache).Encode())
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	processes, overlays := s.reserved.ofSession(s.o.Bounds.Processes), len(s.layers.all) > 0
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	h := &holder{socket: ours, exited: make(chan struct{}), hung: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(h.exited)
		process, err := startSelf(enter.HolderName, enter.HolderEnv(processes, s.o.Bounds.shared()), holderAttr(overlays), theirs, plan)
		theirs.Close()
		if err == nil {
			h.process = process
		}
		started <- err
		if err == nil {
			_, _ = process.Wait()
		}
	}()
	if err := <-started; err != nil {
		ours.Close()
		return nil, noNamespaces{err}
	}
	listener, err := h.answer()
	if err == nil && listener != nil {
		h.proxy, err = s.network.serve(listener)
	}
	if err == nil {
		h.sockets, err = h.answerSockets()
	}
	if err == nil {
		h.devices, h.failed, err = h.answerDevices()
	}
	if err == nil {
		h.world, err = h.answerWorld()
	}
	if err != nil {
		h.close()
		return nil, fmt.Errorf("the session's namespaces: %w", err)
	}
	go func() { // ends with the holder: its sockets would keep its namespaces
		<-h.exited
		h.release()
	}()
	return h, nil
}

// startSelf starts this program again under another name and with another environment, with std streams of /dev/null and the given further files.
func startSelf(name string, env []string, attr *syscall.SysProcAttr, files ...*os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess("/proc/self/exe", []string{name}, &os.ProcAttr{
		Files: append([]*os.File{null, null, null}, files...), Env: env, Dir: "/", Sys: attr,
	})
}

// holderAttr gives the holder namespaces of its own, in which the user keeps the own uid and has the capabilities for
// mounts, and to see which command a process belongs to, and no more. An overlay works in a directory of mode 0 with the privileges of the process that mounted it.
func holderAttr(overlays bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
			syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_SYS_PTRACE},
		Setsid:      true,
		Pdeathsig:   syscall.SIGKILL,
	}
	if overlays {
		attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_DAC_OVERRIDE)
	}
	return attr
}

// over reports whether the holder has ended, or will since it hung.
func (h *holder) over() bool {
	select {
	case <-h.exited:
	case <-h.hung:
	default:
		return false
	}
	return true
}

// errHung is the error of a holder that did not answer, or was killed. What was asked of it was not done.
var errHung = errors.New("the process that holds the sandbox of the session did not answer, and was ended: the next command gets a new one")

// giveUp kills the holder, with all that runs in its namespaces.
func (h *holder) giveUp() {
	h.given.Do(func() {
		close(h.hung)
		_ = h.process.Kill()
		h.release()
	})
}

// lost makes the error of a message to a holder that has ended meanwhile errHung.
func (h *holder) lost(err error) error {
	if errors.Is(err, errEnded) || errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, net.ErrClosed) {
		h.giveUp()
		return errHung
	}
	return err
}

// clone has a helper started in namespaces of its own and returns the descriptor of its process.
func (h *holder) clone(flags byte, files []*os.File) (*os.File, error) {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _, err := h.socket.WriteMsgUnix([]byte{flags}, unix.UnixRights(fds...), nil)
	runtime.KeepAlive(files)
	if err != nil {
		return nil, h.lost(err)
	}
	process, err := h.answer()
	if err = h.lost(err); err == nil && process == nil {
		err = errors.New("no process")
	}
	return process, err
}

// answer reads the holder's answer: an errno, and a descriptor with it if it is 0.
func (h *holder) answer() (*os.File, error) {
	file, _, err := h.answerOf()
	return file, err
}

// answerOf is answer with the words behind an errno of 0.
func (h *holder) answerOf() (file *os.File, of string, err error) {
	message, file, err := h.hear(make([]byte, 16<<10))
	if err != nil {
		return nil, "", err
	}
	number, of, _ := strings.Cut(string(message), " ")
	errno, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("unexpected answer %q", message)
	case errno == 0:
		return file, of, nil
	case of != "":
		return nil, "", fmt.Errorf("%s: %w", of, syscall.Errno(errno))
	}
	return nil, "", syscall.Errno(errno)
}

func (h *holder) pulse() *pulse {
	return &pulse{pid: func() int { return h.process.Pid }, proceed: func() { _ = h.process.Signal(unix.SIGCONT) }}
}

// hear receives a message of the holder. One that hangs, or says nothing for too long, is killed, with all that runs in its namespaces.
func (h *holder) hear(buffer []byte) ([]byte, *os.File, error) {
	pulse := h.pulse()
	for limit := time.Now().Add(patience); ; {
		_ = h.socket.SetReadDeadline(time.Now().Add(silentFor))
		message, file, err := receive(h.socket, buffer)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return message, file, err
		}
		if pulse.hangs() || time.Now().After(limit) {
			h.giveUp()
			return nil, nil, errHung
		}
	}
}

// answerDevices reads the holder's third answer.
func (h *holder) answerDevices() (*os.File, []failedLayer, error) {
	file, of, err := h.answerOf()
	return file, failedLayers(of), err
}

// answerSockets reads the holder's second answer.
func (h *holder) answerSockets() (*sockets, error) {
	f, err := h.answer()
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errEnded
	}
	return newSockets(f)
}

// hungUp reports whether the holder has closed its socket, as it does only when it ends.
func (h *holder) hungUp() (gone bool) {
	raw, err := h.socket.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			events := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(events, 0)
			gone = err == nil && n > 0 && events[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
		})
	}
	return gone || err != nil
}

// close ends the session's processes and waits for their end, but not for long.
func (h *holder) close() {
	h.release()
	if h.devices != nil {
		h.devices.Close()
	}
	h.world.close()
	h.walls.close()
	looks := time.NewTicker(silentFor)
	defer looks.Stop()
	pulse := h.pulse()
	for limit := time.Now().Add(closePatience); time.Now().Before(limit); {
		select {
		case <-h.exited:
			return
		case <-looks.C:
			if pulse.hangs() {
				_ = h.process.Kill()
			}
		}
	}
}

// release closes what reaches into the session's namespaces. It may be called again.
func (h *holder) release() {
	_ = h.socket.Close()
	if h.sockets != nil {
		h.sockets.close()
	}
	if h.proxy != nil {
		_ = h.proxy.Close()
	}
}

// socketPair returns a pair of sockets that keep messages apart: ours, and the one that a child is to inherit.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "control")
	defer f.Close()
	theirs = os.NewFile(uintptr(fds[1]), "control")
	conn, err := net.FileConn(f)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

// receive is receiveFD with the descriptor as a file, nil for none.
func receive(conn *net.UnixConn, buffer []byte) ([]byte, *os.File, error) {
	message, fd, err := receiveFD(conn, buffer)
	if err != nil || fd < 0 {
		return message, nil, err
	}
	return message, os.NewFile(uintptr(fd), "passed"), nil
}

// receiveFD reads one message and the descriptor that comes with it, -1 if none does. It fails with EMFILE if that could not be taken.
func receiveFD(conn *net.UnixConn, buffer []byte) ([]byte, int, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	n, m, flags, _, err := conn.ReadMsgUnix(buffer, rights)
	switch {
	case err == nil && flags&unix.MSG_CTRUNC != 0:
		err = unix.EMFILE
	case errors.Is(err, io.EOF):
		err = errEnded
	}
	if err != nil {
		return nil, -1, err
	}
	if n == 0 {
		return nil, -1, errEnded
	}
	fd := -1
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil {
		return nil, -1, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err == nil && len(fds) == 1 {
			fd = fds[0]
			unix.CloseOnExec(fd)
		}
	}
	return buffer[:n], fd, nil
}

// errEnded means that the other side has ended.
var errEnded = errors.New("it ended without a word")

// errNoAnswer means that a helper has not said in time that it has started its command. It is a shortage: the machine is too busy.
var errNoAnswer = errors.New("the helper did not answer in time")

// noNamespaces says why a process with namespaces of its own could not be started.
type noNamespaces struct{ error }

func (e noNamespaces) Error() string { return "namespaces: " + e.error.Error() }
func (e noNamespaces) Unwrap() error { return e.error }

// forbidden reports whether the machine allows no namespaces, or no more of them: the kernel says so with the word for a full disk.
func (e noNamespaces) forbidden() bool { return errors.Is(e.error, unix.ENOSPC) }
