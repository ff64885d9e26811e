package job

import (
	"context"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job/proc"
)

// group is the processes of a job: the command and all that it started.
type group struct {
	mark    string // of each of them
	process *sandbox.Process
	done    chan struct{} // closed when none is left
}

// over reports whether nothing of the job is left.
func (g *group) over() bool { return isClosed(g.done) }

// processes are those of the job that live.
func (g *group) processes() []proc.Process {
	if pid := g.process.PID(); pid > 0 {
		return proc.Below(pid)
	}
	return nil
}

// names are the names of the processes.
func (g *group) names() []string {
	if g.over() {
		return nil
	}
	return names(g.processes())
}

// ports are the ports on which the processes listen.
func (g *group) ports() []agenttool.JobPort {
	if g.over() {
		return nil
	}
	var ports []agenttool.JobPort
	for _, p := range proc.Ports(g.processes()) {
		ports = append(ports, agenttool.JobPort{Address: p.Address, Port: p.Port, PID: p.PID, Command: p.Command})
	}
	return ports
}

// patience is for processes that are about to exit.
const patience = 50 * time.Millisecond

// left are the processes that the command left behind. Processes that have closed the pipes may be about to exit, and get a
// moment; others have had their time.
func (g *group) left(open bool) []proc.Process {
	ended := g.process.Ended()
	if ended == nil || ended.Alone {
		return nil
	}
	if !open {
		select {
		case <-g.process.Gone():
		case <-time.After(patience):
		}
	}
	return g.processes()
}

// signal sends a signal to all processes. A stopped process is continued, since it would not notice otherwise.
func (g *group) signal(sig syscall.Signal) {
	g.process.Signal(sig)
	if sig != syscall.SIGSTOP && sig != syscall.SIGTSTP {
		g.process.Signal(syscall.SIGCONT)
	}
}

// end sends sig, waits for grace, kills the processes that are left then, and waits for their end. When ctx ends it waits no
// longer, and kills nothing.
func (g *group) end(ctx context.Context, sig syscall.Signal, grace time.Duration) (gone bool) {
	g.signal(sig)
	if g.within(ctx, grace) || ctx.Err() != nil {
		return g.over()
	}
	g.process.Kill()
	return g.within(ctx, killWait)
}

// within reports whether nothing is left of the job when d is over.
func (g *group) within(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-g.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	return g.over()
}

// endSurvivors ends processes that lost their supervisor: a command outside a pid namespace can end it, and its processes are
// then known by their mark alone.
func (g *group) endSurvivors() {
	confined := g.process.Confinement()
	namespace := confined.Level == sandbox.Full && confined.Profile != sandbox.Unconfined
	if ended := g.process.Ended(); namespace || ended != nil && ended.Alone {
		return
	}
	endAll(func() []proc.Process {
		return proc.Marked(MarkName, func(value string) bool { return value == g.mark })
	})
}
