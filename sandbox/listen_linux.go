package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// inspectLast compares them again when all processes have ended, if some of them outlived the command, or if it was killed.
func (p *Process) inspectLast() {
	if p.Ended() == nil || p.tripwire.isStale() {
		p.inspect()
	}
}

// over runs the registered functions when no process of the command is left. The supervisor uses until then all that they give up.
// A supervisor that a file system holds up is not waited for: they run when it has ended.
func (p *Process) over() { p.overWithin(overPatience) }

func (p *Process) overWithin(patience time.Duration) {
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
	timer := time.NewTimer(patience)
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
		p.started <- p.session.setupFailed(errEnded)
	}
	p.helper.kill() // a helper that closed its socket and lives: nothing goes on without it
	if alone == nil {
		p.helper.awaitExit()
	}
	p.helper.close()
	if alone != nil {
		p.setEnded(alone)
	}
	p.over()
	if p.Ended() == nil { // without a word of the helper, it was killed with it
		e := &ExitState{Status: syscall.WaitStatus(syscall.SIGKILL), WithHolder: p.endedWithHolder()}
		p.noteKilled(e)
		p.setEnded(e)
	}
}

// endedWithHolder reports whether a command that was killed, and not by us, ended with the holder of its namespaces.
func (p *Process) endedWithHolder() bool {
	if p.holder == nil || p.endedHere.Load() {
		return false
	}
	select {
	case <-p.holder.hung:
	case <-p.holder.exited:
	case <-time.After(holderPatience):
		return false
	}
	return true
}

// holderPatience is how long after a process in its namespaces a holder ends that was killed.
const holderPatience = 200 * time.Millisecond

// hear reads the helper's messages until the last. It returns whether the start was reported, and the command's end if only the
// helper was left then and it holds no namespaces, which would end with it.
func (p *Process) hear() (said bool, alone *ExitState) {
	buffer := make([]byte, 8<<10)
	for {
		message, fd, err := receiveFD(p.helper.control, buffer)
		if errors.Is(err, syscall.ECONNRESET) {
			continue // it ended with messages of ours unread; its own can still be read, and this error comes once
		}
		if errors.Is(err, unix.EMFILE) && !said {
			p.started <- p.session.setupFailed(err)
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
			if err := p.serve(fd); err != nil { // its calls would wait for ever: it does not go on
				p.started <- p.session.setupFailed(fmt.Errorf("the filter's listener: %w", err))
				return true, nil
			}
		case enter.SaysMounts:
			p.mu.Lock()
			p.mounts = parts[0]
			p.mu.Unlock()
		case enter.SaysStarting:
			p.starting.Store(true)
		case enter.SaysStarted:
			p.started <- nil
			said = true
		case enter.SaysEnded:
			p.inspect()
			e := parseEnded(parts)
			p.noteKilled(e)
			if e.Alone && !p.helper.first {
				return said, e
			}
			p.setEnded(e)
		case enter.SaysBounded:
			p.violations.addAny(p.session.boundOf(parts))
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

// serve answers the filter's questions until no process is left that could ask. It takes over fd, the filter's listener.
func (p *Process) serve(fd int) (err error) {
	judges := notify.Judges{Room: &p.session.room, Short: p.setUnserved, Lost: p.end}
	if p.starts != nil {
		judges.Start = p.starts.judge
	}
	if p.judge != nil {
		p.serveWrites(&judges)
	}
	if p.listener, err = notify.Serve(fd, judges); err != nil {
		_ = unix.Close(fd)
	}
	if p.judge != nil {
		p.judge.changes.seen.Store(err == nil)
	}
	return err
}

// end ends a command whose calls nobody serves any more.
func (p *Process) end(why error) {
	p.setUnserved(why)
	p.Kill()
}

// serveWrites adds what judges the calls of a command that may write.
func (p *Process) serveWrites(judges *notify.Judges) {
	judges.Name, judges.ReadOnly, judges.Names = p.judge.attempt, p.judge.kept.add, p.judge.namesInUse
	judges.Changed, judges.Named, judges.Locks = p.changed, p.named, p.judge.locks
	if p.judge.keeping.keeper != nil {
		judges.Losing = p.judge.keeping.losing
	}
	if p.ask != nil && p.mayAsk != nil {
		p.judge.opening.asks = p.helper.first
		judges.Ask = func(a notify.Attempt) notify.Question {
			question := p.judge.keeping.ask(a)
			if question != nil || !p.helper.first || p.judge.mounts && slices.Contains(attributeCalls, a.Call) {
				return question
			}
			return p.judge.opening.ask(a)
		}
	}
	if p.helper.first {
		judges.Bind = func(b notify.Binding) error { return p.helper.bind(b, p.silent) }
	}
	switch {
	case p.world != nil:
		judges.Direct = p.direct
	case p.helper.first:
		judges.Direct = directAlone
	}
	if p.connector != nil {
		if judges.Connect = p.connector.judge; p.judge.opening.asks {
			p.connector.asker.p = p
		}
	}
}

// named takes notice of a name that a call has given to a file, before the caller goes on.
func (p *Process) named(path string, inode uint64) {
	p.judge.named(path, inode)
	if p.judge.mounts && p.judge.lends(path) {
		p.judge.noteMade(path, inode)
		p.helper.lend(enter.SayLend, path, p.silent)
	}
	p.judge.opening.named(path)
}

// changed takes notice of a change, before the caller goes on.
func (p *Process) changed(c notify.Change) {
	p.judge.changes.note(c)
	if (c.Kind == notify.Created || c.Kind == notify.Written) && p.judge.mounts {
		p.noteAstray(c.Path)
	}
	switch {
	case c.Kind != notify.Removed || !p.judge.mounts:
	case p.judge.lends(c.Path):
		p.helper.lend(enter.SayReturn, c.Path, p.silent)
	default:
		p.judge.opening.removed(c.Path)
	}
}

// failed is the error for a step that failed.
func (p *Process) failed(parts []string) error {
	if len(parts) != 3 {
		return p.session.setupFailed(errEnded)
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
	return p.session.setupFailed(fmt.Errorf("%s %s: %w", parts[0], parts[1], errno))
}

// parseEnded reads SaysEnded.
func parseEnded(parts []string) *ExitState {
	status, _ := strconv.ParseInt(parts[0], 10, 64)
	return &ExitState{Status: syscall.WaitStatus(status), Alone: len(parts) > 1 && parts[1] == "0"}
}
