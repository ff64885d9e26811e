package job

import (
	"context"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job/proc"
)

// group is the processes of a job: the command and its descendants.
type group struct {
	mark    string // in the environment of each of them
	line    string // the approved command line
	process *sandbox.Process
	done    chan struct{} // closed when no process is left
}

// over reports whether no process is left.
func (g *group) over() bool { return isClosed(g.done) }

// processes returns the living processes of the job.
func (g *group) processes() []proc.Process {
	pid := g.process.PID()
	if pid == 0 {
		return nil
	}
	all := proc.Below(pid)
	for _, orphan := range g.process.Orphans() {
		if p, ok := proc.Read(orphan); ok && !p.Dead {
			all = append(append(all, p), proc.Below(orphan)...)
		}
	}
	return all
}

// names returns the names of the processes.
func (g *group) names() []string {
	if g.over() {
		return nil
	}
	return names(g.processes())
}

// ports returns the ports that the processes listen on.
func (g *group) ports() []agenttool.JobPort {
	if g.over() {
		return nil
	}
	var ports []agenttool.JobPort
	for _, p := range proc.Ports(g.processes()) {
		ports = append(ports, agenttool.JobPort{Address: p.Address, Port: p.Port, PID: p.PID, Command: g.shown(p.Command)})
	}
	return ports
}

// patience is the time to wait for processes that are about to exit.
const patience = 50 * time.Millisecond

// left returns the processes that the command left behind, and whether there are any: one that forks and ends all the time may be in no list
// of processes. Those that have closed the pipes may be about to exit, so it waits a moment for them.
func (g *group) left(open bool) (found []proc.Process, survived bool) {
	ended := g.process.Ended()
	if ended == nil || ended.Alone {
		return nil, false
	}
	if !open {
		select {
		case <-g.process.Gone():
		case <-time.After(patience):
		}
	}
	for hidden := time.After(hidingPatience); ; {
		if isClosed(g.process.Gone()) {
			return nil, false
		}
		if found = g.processes(); len(found) > 0 {
			return g.settled(found)
		}
		select {
		case <-g.process.Gone():
		case <-time.After(patience):
		case <-hidden:
			return nil, true
		}
	}
}

// Processes that a command left behind are waited for while they multiply. Those that fill the bounds of the session are ended a second later, so that
// the answer says it.
const (
	fewProcesses  = 12              // are no swarm
	swarmCalm     = 3               // looks at which there are no more than before
	swarmPatience = 6 * time.Second // in all
)

// settled returns what is left of processes that a command left behind, and whether any is, once they do not multiply any more.
func (g *group) settled(found []proc.Process) (left []proc.Process, survived bool) {
	over, calm := time.Now().Add(swarmPatience), 0
	for (len(found) > fewProcesses && calm < swarmCalm || g.process.Bounded()) && time.Now().Before(over) {
		select {
		case <-g.process.Gone():
			return nil, false
		case <-time.After(2 * patience):
		}
		before, most := len(found), g.process.MostProcesses()
		found = g.processes()
		if calm++; len(found) > before+before/8 || most > 0 && len(found) > most/2 {
			calm = 0
		}
	}
	return found, true
}

// hidingPatience is how long to wait for the end of a command of which no process is found.
const hidingPatience = 2 * time.Second

// signal sends a signal to all processes. A stopped process is continued, since it would not notice otherwise.
func (g *group) signal(sig syscall.Signal) {
	g.process.Signal(sig)
	if sig != syscall.SIGSTOP && sig != syscall.SIGTSTP {
		g.process.Signal(syscall.SIGCONT)
	}
}

// end sends sig, waits for grace, kills the remaining processes, and waits for their end. If ctx ends first, it
// returns and kills nothing.
func (g *group) end(ctx context.Context, sig syscall.Signal, grace time.Duration) (gone bool) {
	g.signal(sig)
	if g.within(ctx, grace) || ctx.Err() != nil {
		return g.over()
	}
	g.process.Kill()
	return g.within(ctx, killWait)
}

// within reports whether all processes end within d.
func (g *group) within(ctx context.Context, d time.Duration) bool {
	select {
	case <-g.done:
	case <-time.After(d):
	case <-ctx.Done():
	}
	return g.over()
}

// endSurvivors ends processes that lost their supervisor. A command outside a pid namespace can kill the supervisor;
// then only the mark identifies its processes.
func (g *group) endSurvivors() {
	confined := g.process.Confinement()
	namespace := confined.Level == sandbox.Full && confined.Profile != sandbox.Unconfined
	if ended := g.process.Ended(); namespace || ended != nil && ended.Alone {
		return
	}
	endAll(func() []proc.Process {
		return proc.Marked(func(value string) bool { return value == g.mark }, MarkName)
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
