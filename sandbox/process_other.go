//go:build !linux

package sandbox

import (
	"os"
	"sync"
	"syscall"
	"time"

	"toolhost/sandbox/proxy"
)

// Process is a command with its process group.
type Process struct {
	exited chan struct{}
	gone   chan struct{}

	mu      sync.Mutex
	process *os.Process
	ended   *ExitState
}

// groupPoll is the interval of looks at a group whose command has ended: there is no event for the end of other processes' children.
const groupPoll = 20 * time.Millisecond

// follow waits until nothing is left of the command.
func (p *Process) follow(leave func()) {
	defer leave()
	defer close(p.gone)
	state, err := p.process.Wait()
	e := &ExitState{Status: syscall.WaitStatus(syscall.SIGKILL), Alone: !p.left()}
	if err == nil {
		e.Status, _ = state.Sys().(syscall.WaitStatus)
	}
	p.mu.Lock()
	p.ended = e
	p.mu.Unlock()
	close(p.exited)
	for p.left() {
		time.Sleep(groupPoll)
	}
}

// left reports whether a process is in the group.
func (p *Process) left() bool { return syscall.Kill(-p.process.Pid, 0) == nil }

// PID is the number of the command, 0 when nothing is left of it.
func (p *Process) PID() int {
	select {
	case <-p.gone:
		return 0
	default:
		return p.process.Pid
	}
}

// Exited is closed when the command has ended. Processes that it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing is left of the command's group.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Ended returns how the command ended, nil while it runs.
func (p *Process) Ended() *ExitState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Signal sends a signal to the command's group.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
	default:
		if p.process != nil { // else it could not be started
			_ = syscall.Kill(-p.process.Pid, sig)
		}
	}
}

// Kill ends the command's group.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// Lost is nil.
func (*Process) Lost() []string { return nil }

// Violations is empty.
func (*Process) Violations() []Violation { return nil }

// Hosts is empty.
func (*Process) Hosts() ([]proxy.Host, *proxy.MoreHosts) { return nil, nil }

// Changes is empty.
func (*Process) Changes() (files []FileChange, more int) { return nil, 0 }

// Astray is "".
func (*Process) Astray() string { return "" }

// Explain knows nothing.
func (*Process) Explain(Failure) ([]Violation, []string) { return nil, nil }

// Confinement says that there is none.
func (*Process) Confinement() Confinement { return Confinement{Profile: Unconfined, Level: None} }
