package shell

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is a command that was started. Its owner watches exited, ends what is left of its session, and then
// calls reap or abandon, once.
type process struct {
	*os.Process
	exited  chan struct{} // closed when the process has exited; on Linux it is still a zombie then
	release chan struct{} // closed by its owner: the zombie is no longer needed
	reaped  chan struct{} // closed when state is there
	state   *os.ProcessState
}

// command is what a process is started with.
type command struct {
	bash string
	line string
	dir  string
	env  []string
	std  [3]*os.File
}

// start runs the command in a session of its own. It and all that follows happen on one locked thread, because the
// kernel ends a process with a parent death signal when the thread that started it ends, not when the host does.
// The goroutine ends when the process is reaped.
func (c command) start() (*process, error) {
	p := &process{exited: make(chan struct{}), release: make(chan struct{}), reaped: make(chan struct{})}
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		sealDescriptors()
		var err error
		p.Process, err = os.StartProcess(c.bash, c.argv(), &os.ProcAttr{
			Dir: c.dir, Env: c.env, Files: c.std[:], Sys: sessionAttr(),
		})
		failed <- err
		if err == nil {
			p.wait()
		}
	}()
	return p, <-failed
}

// argv leaves out every start-up file. -c alone reads none, except that a bash that believes to be started by
// rshd or sshd reads ~/.bashrc: --norc forbids it. Without -- a command like "-i" would be an option.
func (c command) argv() []string {
	return []string{"bash", "--noprofile", "--norc", "-c", "--", c.line}
}

// wait waits for the exit, then for the owner, then reaps.
func (p *process) wait() {
	defer close(p.reaped)
	awaitExit(p)
	close(p.exited)
	<-p.release
	if p.state == nil {
		p.state, _ = p.Wait() // fails only if somebody else reaped it: then nothing is known of its end
	}
}

// reap returns how the process ended. It must have exited.
func (p *process) reap() *os.ProcessState {
	close(p.release)
	<-p.reaped
	return p.state
}

// abandon leaves a process that does not die, in an uninterruptible wait, to its goroutine, which reaps it if it ever
// does.
func (p *process) abandon() { close(p.release) }

// ending is how a process ended.
type ending struct {
	code   int // -1: not by exiting
	signal syscall.Signal
}

func endingOf(state *os.ProcessState) ending {
	if state == nil {
		return ending{code: -1}
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return ending{code: -1, signal: status.Signal()}
	}
	return ending{code: state.ExitCode()}
}

// signalName returns SIGTERM for 15, and the number's text for what has no name.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}
