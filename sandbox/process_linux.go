package sandbox

import (
	"context"
	"errors"
	"fmt"
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
	"toolhost/sandbox/proxy"
)

// Process is a command with all processes that it started.
type Process struct {
	helper  helper
	command string

	milestones
	enclosure
	supervision
	questions
	ending
}

// milestones are reached one after the other while a command starts and ends.
type milestones struct {
	started  chan error
	silent   chan struct{} // closed when the helper says nothing any more
	starting atomic.Bool   // the command may run
	exited   chan struct{}
	gone     chan struct{}
}

// supervision watches what a command does.
type supervision struct {
	listener   *notify.Listener // nil: none is served
	judge      *judge           // of its writes; nil for a command that writes nothing
	connector  *connector       // of the peers it connects to; nil for a command that has no sockets with names
	tripwire   *tripwire        // nil for a command that writes nothing
	violations violations
	traffic    *proxy.Traffic // nil for a command that reaches no hosts
}

// questions are put to the user while the command waits.
type questions struct {
	ask    func(ctx context.Context, v Violation) bool // nil: no user can be asked
	mayAsk func(v Violation) bool
}

// enclosure describes the sandbox around a command.
type enclosure struct {
	confinement Confinement
	unseen      hiddenFiles
}

// ending has the end of a command, and the work that follows it.
type ending struct {
	ends  []func() // run in reverse order when every process of the command has ended
	mu    sync.Mutex
	ended *ExitState
}

// hiddenFiles are the files that the sandbox keeps from a command.
type hiddenFiles struct {
	secrets []protect.Entry        // masked ones
	home    string                 // the user's home directory
	hides   func(path string) bool // whether a file of a home directory is not shown; nil: all are
}

func newProcess(c *Command) *Process {
	p := &Process{
		command:    c.Path,
		milestones: milestones{started: make(chan error, 1), exited: make(chan struct{}), gone: make(chan struct{}), silent: make(chan struct{})},
		helper:     helper{bound: make(chan syscall.Errno, 1), lent: make(chan syscall.Errno, 1)},
	}
	p.violations.heard, p.ask, p.mayAsk = c.Report, c.Ask, c.MayAsk
	return p
}

// inspect compares the protected names with the snapshot when the command has ended.
func (p *supervision) inspect() {
	if p.tripwire != nil {
		p.tripwire.inspect(p.violations.add)
	}
}

// inspectLast compares them again when all processes have ended, if some of them outlived the command, or if it was killed.
func (p *Process) inspectLast() {
	if p.Ended() == nil || p.tripwire.isStale() {
		p.inspect()
	}
}

// atEnd registers do for the time when no process of the command is left. The last registered runs first.
func (p *ending) atEnd(do func()) { p.ends = append(p.ends, do) }

// over runs the registered functions when no process of the command is left. The supervisor uses until then all that they give up.
// A supervisor that a file system holds up is not waited for: they run when it has ended.
func (p *Process) over() {
	done, ends := make(chan struct{}), p.ends
	p.ends = nil
	go func() {
		defer close(done)
		if p.listener != nil {
			_ = p.listener.Close() // its errors are those of a kernel that lost it: the command's calls failed
		}
		for _, do := range slices.Backward(ends) {
			do()
		}
	}()
	timer := time.NewTimer(overPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// overPatience is how long a command that has ended waits for its supervisor.
const overPatience = 10 * time.Second

// listen reads the helper's messages until no process of the command is left.
func (p *Process) listen() {
	defer close(p.gone)
	said, alone := p.hear()
	close(p.silent)
	switch {
	case said:
	case p.starting.Load(): // the command was faster, and ended its helper
		p.started <- nil
	default:
		p.started <- setupFailed(errEnded)
	}
	p.Kill() // a helper that closed its socket and lives: nothing goes on without it
	if alone == nil {
		p.helper.awaitExit()
	}
	p.helper.close()
	if alone != nil {
		p.setEnded(alone)
	}
	p.over()
	if p.Ended() == nil { // without a word of the helper, it was killed with it
		p.setEnded(&ExitState{Status: syscall.WaitStatus(syscall.SIGKILL)})
	}
}

// hear reads the helper's messages until the last. It returns whether the start was reported, and the command's end if only the
// helper was left then and it holds no namespaces, which would end with it.
func (p *Process) hear() (said bool, alone *ExitState) {
	buffer := make([]byte, 8<<10)
	for {
		message, file, err := receive(p.helper.control, buffer)
		if errors.Is(err, syscall.ECONNRESET) {
			continue // it ended with messages of ours unread; its own can still be read, and this error comes once
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
			if e.Alone && !p.helper.first {
				return said, e
			}
			p.setEnded(e)
		case enter.SaysBounded:
			p.violations.addAny(boundOf(parts))
		case enter.SaysSealed:
			if v, ok := coveredAgain(parts); ok && !p.judge.opens(v.Path) {
				p.violations.add(v)
			}
		case enter.SaysBound:
			pass(p.helper.bound, parts[0])
		case enter.SaysLent:
			pass(p.helper.lent, parts[0])
		}
	}
}

// serve answers the filter's questions until no process is left that could ask.
func (p *Process) serve(listener *os.File) {
	if listener == nil {
		return
	}
	fd, err := unix.FcntlInt(listener.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	listener.Close()
	if err != nil || p.judge == nil {
		return
	}
	judges := notify.Judges{Name: p.judge.attempt, ReadOnly: p.judge.kept.add, Names: p.judge.namesInUse, Changed: p.judge.changes.note, Named: func(path string, inode uint64) {
		if p.judge.named(path, inode); p.judge.mounts && p.judge.lends(path) {
			p.helper.lend(path, p.silent)
		}
		p.judge.opening.named(path)
	}}
	if p.ask != nil && p.mayAsk != nil && p.helper.first {
		p.judge.opening.asks, judges.Ask = true, p.judge.opening.ask
	}
	if p.helper.first {
		judges.Bind = func(b notify.Binding) error { return p.helper.bind(b, p.silent) }
	}
	if p.connector != nil {
		if judges.Connect = p.connector.judge; judges.Ask != nil {
			p.connector.asker.p = p
		}
	}
	if p.listener, err = notify.Serve(fd, judges); err != nil {
		_ = unix.Close(fd)
	}
	p.judge.changes.seen.Store(err == nil)
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
func parseEnded(parts []string) *ExitState {
	status, _ := strconv.ParseInt(parts[0], 10, 64)
	return &ExitState{Status: syscall.WaitStatus(status), Alone: len(parts) > 1 && parts[1] == "0"}
}

// setEnded keeps how the command ended, and tells of it.
func (p *Process) setEnded(e *ExitState) {
	p.mu.Lock()
	p.ended = e
	p.mu.Unlock()
	close(p.exited)
}

// Ended returns how the command ended, nil while it runs.
func (p *ending) Ended() *ExitState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// PID is the number of the command's helper, the ancestor of all its processes; 0 when the helper has ended.
func (p *Process) PID() int { return p.helper.pid() }

// Violations are the refused accesses of the command so far, and, after its end, the changed protected names.
func (p *supervision) Violations() []Violation { return p.violations.all() }

// Changes returns the files that the command has changed so far, ordered by path, and the number of changes for which there was no place;
// nil if no supervisor sees them.
func (p *supervision) Changes() (files []FileChange, more int) {
	if p.judge == nil || !p.judge.changes.seen.Load() {
		return nil, 0
	}
	return p.judge.changes.all()
}

// Hosts are those that the command has reached or tried to reach so far; more is nil if all are listed. If the command has ended and left no
// process, its last bytes are waited for: its connections are closed soon.
func (p *Process) Hosts() (hosts []proxy.Host, more *proxy.MoreHosts) {
	if hosts, _ := p.traffic.Hosts(); len(hosts) == 0 {
		return nil, nil
	}
	if e := p.Ended(); e != nil && e.Alone {
		p.await(hostsPatience)
	}
	return p.traffic.Hosts()
}

// hostsPatience is how long the last bytes of a command are waited for.
const hostsPatience = time.Second

// Hints are accesses that the sandbox may have refused to a failed command, guessed from its stderr; dir is its directory. They
// are only likely: a program can write anything.
func (p *Process) Hints(stderr, dir string) []Violation {
	if p.confinement.Level == None {
		return nil
	}
	kept := &refusedPaths{}
	if p.judge != nil {
		kept = &p.judge.kept
	}
	found := append(hintsOfSecrets(stderr, p.unseen.secrets), hintsOf(stderr, dir, kept)...)
	if p.unseen.hides != nil {
		found = append(found, hintsOfClosed(stderr, dir, p.unseen.home, p.unseen.hides)...)
	}
	return found
}

// Confinement describes the command's sandbox.
func (p *enclosure) Confinement() Confinement { return p.confinement }

// Exited is closed when the command has ended. Processes that it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing is left of the command.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Signal sends a signal to every process of the command, also in other sessions.
func (p *Process) Signal(sig syscall.Signal) {
	p.helper.send(patience, enter.SaySignal, strconv.Itoa(int(sig)))
}

// Kill ends every process of the command, also in other sessions.
func (p *Process) Kill() { p.helper.kill() }

// await waits until every process of the command has ended, for a limited time.
func (p *Process) await(patience time.Duration) {
	select {
	case <-p.gone:
	case <-time.After(patience):
	}
}
