package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// Process is a command in its sandbox, with whatever it started there.
type Process struct {
	control *net.UnixConn
	handle  *os.File // a pidfd of the helper
	first   bool     // the helper is the first process of a pid namespace
	command string

	started chan error
	exited  chan struct{}
	gone    chan struct{}

	mu    sync.Mutex
	ended *Ended
}

// Ended is how a command ended.
type Ended struct {
	Status       syscall.WaitStatus
	User, System time.Duration
	MaxRSS       int64 // KiB, of its largest process
}

// launch has a helper started and waits until it has started the command.
func (s *Session) launch(c *Command, encoded []byte) (*Process, error) {
	plan, err := planFile(encoded)
	if err != nil {
		return nil, setupFailed(err)
	}
	defer plan.Close()
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, setupFailed(err)
	}
	p := &Process{
		control: ours, command: c.Path,
		first: s.level == Full, started: make(chan error, 1), exited: make(chan struct{}), gone: make(chan struct{}),
	}
	p.handle, err = s.helper(c, theirs, plan)
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, setupFailed(err)
	}
	go p.listen()
	select {
	case err = <-p.started:
	case <-time.After(patience):
		err = setupFailed(errors.New("the helper did not answer"))
	}
	if err != nil {
		p.Kill()
		<-p.gone
		return nil, err
	}
	return p, nil
}

// helper starts the helper, in the namespaces of the session where there are any.
func (s *Session) helper(c *Command, control, plan *os.File) (*os.File, error) {
	if s.level != Full {
		return startHelper(control, plan, c.Streams)
	}
	flags := byte(0)
	if c.Profile.Access == ReadOnly {
		flags = enter.OwnNetwork
	}
	h, err := s.hold()
	if err != nil {
		return nil, err
	}
	return h.clone(flags, control, plan, c.Streams[0], c.Streams[1], c.Streams[2])
}

// hold returns the session's holder. One that died took every command with it; another takes its place.
func (s *Session) hold() (*holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, os.ErrClosed
	}
	if s.holder != nil {
		select {
		case <-s.holder.exited:
			s.holder.close()
		default:
			return s.holder, nil
		}
	}
	h, err := startHolder()
	s.holder = h
	return h, err
}

// startHelper starts a helper without namespaces. It is our child, so somebody has to wait for it.
func startHelper(control, plan *os.File, streams [3]*os.File) (*os.File, error) {
	type result struct {
		pidfd int
		err   error
	}
	started := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // the helper dies with this thread
		r := result{pidfd: -1}
		process, err := os.StartProcess("/proc/self/exe", []string{enter.HelperName}, &os.ProcAttr{
			Files: []*os.File{streams[0], streams[1], streams[2], control, plan}, Env: []string{"GODEBUG="}, Dir: "/",
			Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &r.pidfd, Pdeathsig: syscall.SIGKILL},
		})
		r.err = err
		started <- r
		if err == nil {
			_, _ = process.Wait()
		}
	}()
	r := <-started
	if r.err != nil {
		return nil, r.err
	}
	fd, err := unix.FcntlInt(uintptr(r.pidfd), unix.F_DUPFD_CLOEXEC, 0) // os.Process has closed over its own
	return os.NewFile(uintptr(fd), "helper"), err
}

// planFile is a file in memory that holds the plan.
func planFile(encoded []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "plan")
	if _, err := f.Write(encoded); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// listen takes what the helper says until it is gone.
func (p *Process) listen() {
	defer close(p.gone)
	defer p.handle.Close()
	buffer := make([]byte, 8<<10)
	said := false
	for {
		message, file, err := receive(p.control, buffer)
		if err != nil {
			break
		}
		parts := strings.Split(string(message[1:]), "\x00")
		switch message[0] {
		case enter.SaysFailed:
			p.started <- p.failed(parts)
			said = true
		case enter.SaysListener:
			p.serve(file)
		case enter.SaysStarted:
			p.started <- nil
			said = true
		case enter.SaysEnded:
			p.setEnded(parts)
		}
	}
	if !said {
		p.started <- setupFailed(errEnded)
	}
	p.Kill() // whoever closed the socket without leaving: nothing goes on without it
	p.awaitExit()
	p.control.Close()
	if p.Ended() == nil {
		p.setEnded(nil)
	}
}

func (p *Process) serve(listener *os.File) { listener.Close() }

// failed is the error for a step that failed.
func (p *Process) failed(parts []string) error {
	if len(parts) != 3 {
		return setupFailed(errEnded)
	}
	number, _ := strconv.Atoi(parts[2])
	errno := syscall.Errno(number)
	if parts[0] == string(enter.Run) {
		return agenttool.Failure(agenttool.ExecutionFailed, "start_failed",
			fmt.Sprintf("the command was not started: %s: %v", p.command, errno)).Because(errno)
	}
	return setupFailed(fmt.Errorf("%s %s: %w", parts[0], parts[1], errno))
}

// setEnded keeps how the command ended. Without a word of the helper, it was killed with it.
func (p *Process) setEnded(parts []string) {
	e := &Ended{Status: syscall.WaitStatus(syscall.SIGKILL)}
	if len(parts) == 4 {
		numbers := make([]int64, 4)
		for i, part := range parts {
			numbers[i], _ = strconv.ParseInt(part, 10, 64)
		}
		e.Status = syscall.WaitStatus(numbers[0])
		e.User, e.System = time.Duration(numbers[1])*time.Microsecond, time.Duration(numbers[2])*time.Microsecond
		e.MaxRSS = numbers[3]
	}
	p.mu.Lock()
	p.ended = e
	p.mu.Unlock()
	close(p.exited)
}

// Ended returns how the command ended, nil while it runs.
func (p *Process) Ended() *Ended {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// PID is the number of the sandbox's first process, of which all others descend; 0 when it is gone.
func (p *Process) PID() int {
	pid := 0
	p.withHandle(func(fd int) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
		_, rest, _ := strings.Cut(string(b), "\nPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		pid, _ = strconv.Atoi(line)
	})
	return max(pid, 0)
}

// Exited is closed when the command has ended. What it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing is left of the command.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Signal sends a signal to every process of the sandbox.
func (p *Process) Signal(sig syscall.Signal) {
	_, _ = p.control.Write(append([]byte{enter.SaySignal}, strconv.Itoa(int(sig))...))
}

// Kill ends every process of the sandbox. With the first of a pid namespace the kernel ends the others; another helper
// does it itself when it sees that its socket is closed.
func (p *Process) Kill() {
	if p.first {
		p.withHandle(func(fd int) { _ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
	}
	_ = p.control.CloseRead()
	_ = p.control.CloseWrite()
}

// withHandle does something with the helper's pidfd, unless it is closed.
func (p *Process) withHandle(do func(fd int)) {
	if raw, err := p.handle.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// awaitExit waits until the helper has ended, which for the first of a pid namespace is when the namespace is empty.
func (p *Process) awaitExit() {
	p.withHandle(func(fd int) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, -1); err != unix.EINTR {
				return
			}
		}
	})
}
