package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// Process is a command with whatever it started.
type Process struct {
	control *net.UnixConn
	first   bool // the helper is the first process of a pid namespace
	command string

	started  chan error
	starting atomic.Bool // the command may run
	exited   chan struct{}
	gone     chan struct{}

	guards
	bound       chan syscall.Errno // what the helper says of a bind
	violations  violations
	confinement Confinement
	secrets     []protect.Entry // that are masked
	ends        []func()        // what is to be done when it is gone, the last first
	home        string
	hides       func(path string) bool // whether a file of a home directory is not shown; nil: all are

	mu     sync.Mutex
	handle *os.File // a pidfd of the helper; nil until it is started
	ended  *Ended
}

// guards watch what a command does.
type guards struct {
	judge      *judge     // of what it writes; nil for a command that writes nothing
	connector  *connector // of the peers it connects to; nil for a command that has no sockets with names
	tripwire   *tripwire  // nil likewise
	inspected  time.Time  // when the tripwire was looked at after the command had ended
	namesInUse *sync.RWMutex
}

func newProcess(c *Command) *Process {
	p := &Process{command: c.Path, started: make(chan error, 1), exited: make(chan struct{}), gone: make(chan struct{}),
		bound: make(chan syscall.Errno, 1)}
	p.violations.heard = c.Report
	return p
}

// inspect looks whether what is protected is what it was when the command has ended.
func (p *Process) inspect() {
	if p.tripwire != nil {
		p.tripwire.look(p.violations.add, true)
		p.inspected = time.Now()
	}
}

// inspectLast looks once more when nothing is left of the command, if something of it went on, or it was killed.
func (p *Process) inspectLast() {
	if p.Ended() == nil || time.Since(p.inspected) > firstLook {
		p.inspect()
	}
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

// listen takes what the helper says until nothing is left of the command.
func (p *Process) listen() {
	defer close(p.gone)
	said, alone := p.hear()
	switch {
	case said:
	case p.starting.Load(): // the command was faster, and ended its helper
		p.started <- nil
	default:
		p.started <- setupFailed(errEnded)
	}
	p.Kill() // whoever closed the socket without leaving: nothing goes on without it
	if alone == nil {
		p.awaitExit()
	}
	p.control.Close()
	p.handle.Close()
	if alone != nil {
		p.setEnded(alone)
	}
	p.over()
	if p.Ended() == nil { // without a word of the helper, it was killed with it
		p.setEnded(&Ended{Status: syscall.WaitStatus(syscall.SIGKILL)})
	}
}

// hear takes what the helper says until it has no more to say. It returns whether the start was told of, and how the command
// ended if the helper was all that was left then, and takes nothing along when it goes: no namespaces.
func (p *Process) hear() (said bool, alone *Ended) {
	buffer := make([]byte, 8<<10)
	for {
		message, file, err := receive(p.control, buffer)
		if errors.Is(err, syscall.ECONNRESET) {
			continue // it left with words of ours unread; its own are still there, and this is said once
		}
		if errors.Is(err, unix.EMFILE) && !said {
			p.started <- setupFailed(err)
			return true, nil
		}
		if err != nil {
			return said, nil
		}
		parts := strings.Split(string(message[1:]), "\x00")
		switch message[0] {
		case enter.SaysFailed:
			p.started <- p.failed(parts)
			said = true
		case enter.SaysListener:
			p.serve(file)
		case enter.SaysStarting:
			p.starting.Store(true)
		case enter.SaysStarted:
			p.started <- nil
			said = true
		case enter.SaysEnded:
			p.inspect()
			e := parseEnded(parts)
			if e.Alone && !p.first {
				return said, e
			}
			p.setEnded(e)
		case enter.SaysBounded:
			p.bounded(parts)
		case enter.SaysSealed:
			p.coveredAgain(parts)
		case enter.SaysBound:
			number, _ := strconv.Atoi(parts[0])
			select {
			case p.bound <- syscall.Errno(number):
			default: // nobody asked
			}
		}
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
	judges := notify.Judges{Name: p.judge.attempt, Named: p.judge.named, Names: p.namesInUse}
	if p.first {
		judges.Bind = p.bind
	}
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
		if e := shortage("the command was not started: "+p.command, errno); e != nil {
			return e
		}
		return agenttool.Failure(agenttool.ExecutionFailed, "start_failed",
			fmt.Sprintf("the command was not started: %s: %v", p.command, errno)).Because(errno)
	}
	return setupFailed(fmt.Errorf("%s %s: %w", parts[0], parts[1], errno))
}

// parseEnded reads SaysEnded.
func parseEnded(parts []string) *Ended {
	numbers := [5]int64{4: 1}
	for i, part := range parts[:min(len(parts), len(numbers))] {
		numbers[i], _ = strconv.ParseInt(part, 10, 64)
	}
	return &Ended{
		Status: syscall.WaitStatus(numbers[0]),
		User:   time.Duration(numbers[1]) * time.Microsecond, System: time.Duration(numbers[2]) * time.Microsecond,
		MaxRSS: numbers[3], Alone: numbers[4] == 0,
	}
}

// setEnded keeps how the command ended, and tells of it.
func (p *Process) setEnded(e *Ended) {
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

// PID is the number of the command's helper, of which all its processes descend; 0 when it is gone.
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

// Hints are what the sandbox may have kept a command from that failed, by what it said on stderr; dir is where it ran. They
// are only likely: a program can say anything.
func (p *Process) Hints(stderr, dir string) []Violation {
	if p.confinement.Level == None {
		return nil
	}
	found := append(hintsOfSecrets(stderr, p.secrets), hintsOf(stderr, dir)...)
	if p.hides != nil {
		found = append(found, hintsOfClosed(stderr, dir, p.home, p.hides)...)
	}
	return found
}

// Confinement returns what the command runs in.
func (p *Process) Confinement() Confinement { return p.confinement }

// Exited is closed when the command has ended. What it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing is left of the command.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Signal sends a signal to every process of the command, whatever session it is in.
func (p *Process) Signal(sig syscall.Signal) {
	_ = p.control.SetWriteDeadline(time.Now().Add(patience)) // it may have been stopped
	_, _ = p.control.Write(append([]byte{enter.SaySignal}, strconv.Itoa(int(sig))...))
}

// Kill ends every process of the command, whatever session it is in. With the first of a pid namespace the kernel ends the
// others; another helper does it itself when it sees that its socket is closed, for which it must not be stopped.
func (p *Process) Kill() {
	_ = p.control.CloseRead()
	_ = p.control.CloseWrite()
	sig := unix.SIGCONT
	if p.first {
		sig = unix.SIGKILL
	}
	p.withHandle(func(fd int) { _ = unix.PidfdSendSignal(fd, sig, nil, 0) })
}

// await waits until nothing is left of the command, but not for ever.
func (p *Process) await(patience time.Duration) {
	select {
	case <-p.gone:
	case <-time.After(patience):
	}
}

// withHandle does something with the helper's pidfd, unless it is closed or not there yet.
func (p *Process) withHandle(do func(fd int)) {
	p.mu.Lock()
	handle := p.handle
	p.mu.Unlock()
	if raw, err := handle.SyscallConn(); err == nil {
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
