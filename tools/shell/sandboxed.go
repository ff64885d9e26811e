package shell

import (
	"slices"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// profile returns what the sandbox of the call lets it do: a command that was proved to read only and to reach nobody
// can do no more than that; every other one writes the workspace and what its decision granted. ok is false for
// a command that runs as the person does, because there is no sandbox or by an explicit grant.
func (c *call) profile() (p sandbox.Profile, ok bool) {
	if c.tool.o.Sandbox == nil || c.grants.Unconfined {
		return p, false
	}
	if c.facts.ReadOnly == agenttool.Yes && c.facts.OpenWorld == agenttool.No && c.grants.Empty() {
		return sandbox.Profile{Access: sandbox.ReadOnly}, true
	}
	p = sandbox.Profile{
		Access: sandbox.Workspace, Write: c.grants.Write, Reveal: c.grants.Reveal,
		Hosts: slices.Concat(c.grants.Hosts, sandbox.Public(c.facts.Hosts)), Unseal: c.grants.Write,
	}
	for _, w := range c.facts.Writes { // the decision showed them
		p.Unseal = append(p.Unseal, w.Resolved)
		if c.removes() {
			p.Remove = append(p.Remove, w.Resolved)
		}
	}
	return p, true
}

// removes reports whether the command takes away what it names: with a directory go the protected names in it. Of a move
// that is so only where nothing else of the command is unknown.
func (c *call) removes() bool {
	moves := c.facts.PathsComplete == agenttool.Yes && slices.ContainsFunc(c.facts.Commands, func(argv []string) bool {
		return len(argv) > 0 && argv[0] == "mv"
	})
	return moves || c.facts.Destructive == agenttool.Yes
}

// Confine widens the sandbox of the call by what its decision granted: "write:PATH", "host:NAME[:PORT]", "unconfined".
func (c *call) Confine(grants []string) error {
	g, err := sandbox.ParseGrants(grants)
	if err != nil {
		return agenttool.Failure(agenttool.InvalidArguments, "bad_grant", err.Error())
	}
	c.grants = g
	return nil
}

// box starts a command in a sandbox.
func (c *call) box(cmd command, dir *workspace.Dir, profile sandbox.Profile, report func(sandbox.Violation)) (boxed, error) {
	p, err := c.tool.o.Sandbox.Start(&sandbox.Command{
		Path: cmd.bash, Args: cmd.argv(), Env: cmd.env, Dir: c.dir(), At: dir.File(), Streams: cmd.std, Profile: profile,
		Report: report,
	})
	return boxed{p}, err
}

// boxed is a command in its sandbox.
type boxed struct{ *sandbox.Process }

func (b boxed) exited() <-chan struct{}   { return b.Exited() }
func (b boxed) signal(sig syscall.Signal) { b.Signal(sig) }
func (b boxed) abandon()                  {}
func (b boxed) number() int               { return b.PID() }

// alive reports whether anything is left in the sandbox.
func (b boxed) alive() bool { return !b.over(0) }

// over reports whether nothing is left when patience is over. The sandbox itself takes longer to go than the command: nobody
// waits for that.
func (b boxed) over(patience time.Duration) bool {
	if e := b.Ended(); e != nil && e.Alone {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-b.Gone():
		return true
	case <-timer.C:
		select {
		case <-b.Gone():
			return true
		default:
			return false
		}
	}
}

// end kills what is left when patience is over, or spares it, and names it.
func (b boxed) end(patience time.Duration, spare bool) []string {
	if b.over(patience) {
		return nil
	}
	names := namesBelow(b.PID())
	if !spare {
		b.Kill()
		b.over(killWait)
	}
	return names
}

// reap returns how the command ended.
func (b boxed) reap() ending {
	status := b.Ended().Status
	if status.Signaled() {
		return ending{code: -1, signal: status.Signal()}
	}
	return ending{code: status.ExitStatus()}
}
