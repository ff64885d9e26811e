package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
	"toolhost/sandbox/proxy"
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

	judge       *judge    // of what it writes; nil for a command that writes nothing
	connector   *connector // of whom it connects to; nil for a command that has no sockets with names
	tripwire    *tripwire // nil likewise
	violations  violations
	confinement Confinement
	ends        []func() // what is to be done when it is gone, the last first

	mu    sync.Mutex
	ended *Ended
}

func newProcess(c *Command) *Process {
	p := &Process{command: c.Path, started: make(chan error, 1), exited: make(chan struct{}), gone: make(chan struct{})}
	p.violations.heard = c.Report
	return p
}

// guard finds what is protected and takes note of it.
func (p *Process) guard(plan *plan) (err error) {
	plan.names, err = plan.s.findNames(plan.c.Profile)
	if err != nil {
		return err
	}
	p.confinement = Confinement{plan.c.Profile.Access, plan.s.level, partial(plan.names.all)}
	if !plan.workspace() {
		return nil
	}
	p.judge = &judge{names: plan.names.granted, report: p.violations.add}
	if plan.s.level != Full {
		p.judge.open = append(plan.writable(), "/dev", "/proc") // of devices and descriptors; Landlock holds what must not be written there
	}
	if p.tripwire, err = newTripwire(plan.names); err == nil {
		p.tripwire.walked, p.tripwire.look = plan.s.protected.Invalidate, plan.s.protected.Map
		p.atEnd(func() {
			if p.Ended() == nil { // it was killed, and not looked at
				p.inspect()
			}
		})
	}
	return err
}

// inspect looks whether what is protected is what it was when the command has ended. What goes on in the background is not
// looked at again: until it is gone, other calls may have been allowed to write what is protected.
func (p *Process) inspect() {
	if p.tripwire != nil {
		p.tripwire.spring(p.violations.add)
		p.tripwire.walked()
		if p.judge.fresh.Load() {
			p.tripwire.made(p.violations.add)
		}
	}
}

// connect gives a command that has a network its way out.
func (p *Process) connect(plan *plan) error {
	if plan.s.level != Full || !plan.workspace() {
		return nil
	}
	h, err := plan.s.hold()
	if err != nil {
		return err
	}
	p.connector = newConnector(plan, h.sockets, p.violations.add)
	if h.proxy == nil {
		return nil
	}
	env, leave, err := plan.s.network.admit(h.proxy, plan.c.Profile.Hosts, p.violations.add)
	if err == nil {
		plan.network = env
		if exe := plan.s.o.Program; exe != "" {
			plan.network = append(plan.network, "GIT_SSH_COMMAND="+proxy.GitSSHCommand(exe))
		}
		p.atEnd(leave)
	}
	return err
}

// atEnd has something done when nothing is left of the command. What comes last is done first.
func (p *Process) atEnd(do func()) { p.ends = append(p.ends, do) }

// over does what is to be done when nothing is left of the command.
func (p *Process) over() {
	for _, do := range slices.Backward(p.ends) {
		do()
	}
	p.ends = nil
}

// launch has a helper started and waits until it has started the command.
func (p *Process) launch(made *plan) error {
	plan, err := planFile(made.Encode())
	if err != nil {
		return err
	}
	defer plan.Close()
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	p.control = ours
	if made.s.level == Full { // before anything is covered: what is replaced from now on is covered again
		p.atEnd(made.s.watch.add(p, made.names))
	}
	p.handle, err = made.s.helper(made.c, theirs, plan)
	theirs.Close()
	if err != nil {
		ours.Close()
		return err
	}
	go p.listen()
	select {
	case err = <-p.started:
	case <-time.After(patience):
		err = errors.New("the helper did not answer")
	}
	if err != nil {
		p.Kill()
		<-p.gone
	}
	return err
}

// startError is the error for a command that did not start.
func (p *Process) startError(err error) error {
	var e *agenttool.Error
	if errors.As(err, &e) {
		return err
	}
	return setupFailed(err)
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
	h, err := startHolder(s.network)
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
			p.inspect()
			p.setEnded(parts)
		}
	}
	if !said {
		p.started <- setupFailed(errEnded)
	}
	p.Kill() // whoever closed the socket without leaving: nothing goes on without it
	p.awaitExit()
	p.control.Close()
	p.over()
	if p.Ended() == nil {
		p.setEnded(nil)
	}
}

// serve answers what the filter asks, until nobody is left who could.
func (p *Process) serve(listener *os.File) {
	if listener == nil {
		return
	}
	fd, err := unix.FcntlInt(listener.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	listener.Close()
	if err != nil || p.judge == nil {
		return
	}
	judges := notify.Judges{Name: p.judge.attempt}
	if p.connector != nil {
		judges.Connect = p.connector.judge
	}
	if _, err := notify.Serve(fd, judges); err != nil {
		_ = unix.Close(fd)
	}
}

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

// Violations are what the sandbox kept from the command so far, and, when it is gone, what it found changed.
func (p *Process) Violations() []Violation { return p.violations.all() }

// Confinement returns what the command runs in.
func (p *Process) Confinement() Confinement { return p.confinement }

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
