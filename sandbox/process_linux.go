package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
	"toolhost/sandbox/proxy"
)

// Process is a command with all processes that it started.
type Process struct {
	helper  helper
	holder  *holder // of the namespaces that its helper is in; nil: of none
	command string
	lost    []string // see Lost
	residence

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

// supervision watches a command.
type supervision struct {
	listener   *notify.Listener // nil: none is served
	judge      *judge           // of its writes; nil for a command that writes nothing
	starts     *starts          // of the programs that it starts; nil: nothing judges them
	connector  *connector       // of the peers it connects to; nil for a command that has no sockets with names
	tripwire   *tripwire        // nil for a command that writes nothing
	violations violations
	traffic    *proxy.Traffic // nil for a command that reaches no hosts

	toldTemporary *atomic.Bool           // of the session
	astray        atomic.Pointer[string] // see Astray
}

// residence is where the processes of a command live, and who hears of signals that other commands send them.
type residence struct {
	name     string // of the command, for others
	session  *Session
	world    *world // nil: the command has a pid namespace of its own, or none
	mounts   string // the name of its mount namespace, as soon as its helper has told it
	signaled func(Signaled)
}

// livesIn reports whether a mount namespace is the command's.
func (p *Process) livesIn(mounts string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mounts == mounts
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

	unserved error // see [ExitState]; the first one

	killsBefore int64       // the count of [kills] when it began
	endedHere   atomic.Bool // the host ended it
}

// hiddenFiles are the files that the sandbox keeps from a command.
type hiddenFiles struct {
	secrets []protect.Entry        // masked ones
	denied  []DeniedProgram        // hidden ones
	home    string                 // the user's home directory
	hides   func(path string) bool // whether a file of a home directory is not shown; nil: all are

	replaced func(path string) bool // whether the sandbox's own directory is in the place of the host's; nil: no

	replacedByGit func(path string) bool // whether git would put another file in its place; nil: no
}

func newProcess(c *Command) *Process {
	p := &Process{
		command:    c.Path,
		milestones: milestones{started: make(chan error, 1), exited: make(chan struct{}), gone: make(chan struct{}), silent: make(chan struct{})},
		helper:     helper{bound: make(chan syscall.Errno, 1), lent: make(chan syscall.Errno, 1)},
	}
	p.name, p.signaled = c.Name, c.Signaled
	p.violations.heard, p.ask, p.mayAsk = c.Report, c.Ask, c.MayAsk
	return p
}

// inspect compares the protected names with the snapshot when the command has ended.
func (p *supervision) inspect() {
	if p.tripwire != nil {
		p.tripwire.inspect(p.violations.add)
	}
}

// atEnd registers do for the time when no process of the command is left. The last registered runs first.
func (p *ending) atEnd(do func()) { p.ends = append(p.ends, do) }

// setEnded keeps how the command ended, and tells of it.
func (p *Process) setEnded(e *ExitState) {
	p.mu.Lock()
	if e.Status != 0 {
		e.Unserved = p.unserved
	}
	p.ended = e
	p.mu.Unlock()
	close(p.exited)
}

// setUnserved keeps why a call of the command could not be served.
func (p *ending) setUnserved(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unserved == nil {
		p.unserved = why
	}
}

// Ended returns how the command ended, nil while it runs.
func (p *ending) Ended() *ExitState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// PID is the number of the command's helper, the ancestor of its processes; 0 when the helper has ended.
func (p *Process) PID() int { return p.helper.pid() }

// Orphans are the processes of the command that are not below its helper, since they lost their parents: they and what is below them are
// the rest of it.
func (p *Process) Orphans() []int { return p.orphans() }

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

// Astray is a path below the user's /tmp that the command has written in the session's /tmp instead: the host has its directory, or a file of
// that name. It is told of one command of a session; "" of the others.
func (p *Process) Astray() string {
	if path := p.astray.Load(); path != nil {
		return *path
	}
	return ""
}

// noteAstray keeps a path that was written if it is the first one of the session for Astray.
func (p *Process) noteAstray(path string) {
	if p.toldTemporary == nil || p.toldTemporary.Load() || p.unseen.replaced == nil {
		return
	}
	in := Temporary(path)
	if in == "" || !p.unseen.replaced(path) {
		return
	}
	looked := filepath.Dir(path)
	if looked == in {
		looked = path
	}
	if _, err := os.Lstat(looked); err == nil && p.toldTemporary.CompareAndSwap(false, true) {
		p.astray.Store(&path)
	}
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

// Explain guesses from what a failed command printed which accesses the sandbox may have refused to it, and what else it may have missed, in
// the words of [Absences]. All of it is only likely: a program can write anything.
func (p *Process) Explain(f Failure) (hints []Violation, likely []string) {
	if f.level = p.confinement.Level; f.level == None || p.confinement.Profile == Unconfined {
		return nil, nil
	}
	f.home, f.hides, f.replaced = p.unseen.home, p.unseen.hides, p.unseen.replaced
	kept := &refusedPaths{}
	if p.judge != nil {
		kept = &p.judge.kept
	}
	hints = append(hintsOfDenied(f.Stderr, p.unseen.denied), hintsOfSecrets(f.Stderr, p.unseen.secrets)...)
	hints = append(hints, hintsOf(f.Stderr, f.Dir, kept)...)
	for i, v := range hints {
		if v.Wall == FileSystem && p.unseen.replacedByGit != nil && p.unseen.replacedByGit(v.Path) {
			hints[i].Grant, hints[i].Rule = "", replacedByGit
		}
	}
	if f.hides != nil {
		hints = append(hints, hintsOfClosed(f.Stderr, f.Dir, f.home, f.hides)...)
	}
	for i := range hints {
		if hints[i].Wall == NoNetwork && f.level != Full {
			hints[i].Grant = "" // no grant gives it a network
		}
	}
	return hints, remarks(&f)
}

// Confinement describes the command's sandbox.
func (p *enclosure) Confinement() Confinement { return p.confinement }

// confinedAs is the name of a command that runs in the namespaces of the session, "" of another.
func (p *Process) confinedAs() string {
	p.helper.mu.Lock()
	defer p.helper.mu.Unlock()
	if !p.helper.first || p.helper.process == nil {
		return ""
	}
	return p.name
}

// Exited is closed when the command has ended. Processes that it started may still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when nothing is left of the command.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Signal sends a signal to every process of the command, also in other sessions.
func (p *Process) Signal(sig syscall.Signal) {
	p.helper.signal(syscall.SIGCONT) // it may have been stopped, and would not hear of this one
	p.helper.send(signalPatience, enter.SaySignal, strconv.Itoa(int(sig)))
}

// signalPatience is how long a signal waits for a helper that does not read.
const signalPatience = time.Second

// Kill ends every process of the command, also in other sessions.
func (p *Process) Kill() {
	p.endedHere.Store(true)
	p.helper.kill()
	go p.insist() // ends with the process
}

// insist kills a helper that hangs instead of ending the command. Whoever started the helper ends the command then.
func (p *Process) insist() {
	looks := time.NewTicker(silentFor)
	defer looks.Stop()
	for pulse := p.helper.pulse(); ; {
		select {
		case <-p.gone:
			return
		case <-looks.C:
			if pulse.hangs() {
				p.helper.signal(syscall.SIGKILL)
				return
			}
		}
	}
}

// Lost are the names of the commands of the session that ended, before this one began, with the process that held the sandbox of all: it was
// killed, or did not answer and was replaced. Each is told of once.
func (p *Process) Lost() []string { return p.lost }

// await waits until every process of the command has ended, for a limited time.
func (p *Process) await(patience time.Duration) {
	select {
	case <-p.gone:
	case <-time.After(patience):
	}
}
