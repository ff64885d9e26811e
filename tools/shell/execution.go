package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// execution is a command while it runs.
type execution struct {
	call    *call
	report  agenttool.Reporter
	job     job
	streams []*stream // stdout, stderr
	started time.Time
	linger  bool // what the command leaves behind goes on
}

// launch starts the command. Only its side of the pipes reaches it: all else that the host has open is closed on exec.
func (c *call) launch(r agenttool.Reporter) (*execution, error) {
	bash, err := c.tool.bash()
	if err != nil {
		return nil, err
	}
	dir, err := c.openDir()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	x := &execution{call: c, report: r, started: time.Now()}
	ends, err := x.openPipes()
	defer closeAll(ends)
	if err == nil {
		err = x.begin(bash, dir, [3]*os.File(ends))
	}
	if err != nil {
		x.close()
		return nil, startError(bash, err)
	}
	for _, s := range x.streams {
		s.start()
	}
	return x, nil
}

// begin starts the command, in its sandbox if it gets one.
func (x *execution) begin(bash string, dir *workspace.Dir, ends [3]*os.File) (err error) {
	c := command{bash: bash, line: x.call.input.Command, env: x.call.environ(), std: ends}
	if profile, ok := x.call.profile(); ok {
		x.linger = profile.Access == sandbox.Workspace
		x.job, err = x.call.box(c, dir, profile, x.violated)
		return err
	}
	c.dir = dirPath(dir.File().Fd(), x.call.dir())
	p, err := c.start()
	if err == nil {
		x.job = direct{p, newSession(p, x.started)}
	}
	return err
}

// violated tells at once what the sandbox kept from the command.
func (x *execution) violated(v sandbox.Violation) {
	encoded, err := agenttool.Encode(v)
	if err != nil {
		return // strings and a truth value: it cannot fail
	}
	x.report.Progress(agenttool.Progress{
		Status: "running", Message: oneLine(v.String()), ElapsedMS: time.Since(x.started).Milliseconds(),
		Extra: agenttool.Extra{"sandbox_violation": encoded},
	})
}

// environ is the command's environment. One that was proved to read only gets what keeps it so.
func (c *call) environ() []string {
	env := Environ(c.tool.o.Environ, c.dir())
	if c.facts.ReadOnly != agenttool.Yes {
		return env
	}
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(readingOnly, func(fixed string) bool { return strings.HasPrefix(fixed, name+"=") })
	})
	return append(env, readingOnly...)
}

// dir is the directory that the command starts in.
func (c *call) dir() string { return c.facts.Dir.Resolved }

// openPipes opens the streams and returns what the command gets as its stdin, stdout and stderr.
func (x *execution) openPipes() (ends []*os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	ends = []*os.File{null}
	for _, name := range []string{"stdout", "stderr"} {
		r, w, err := os.Pipe()
		if err != nil {
			return ends, err
		}
		x.streams = append(x.streams, newStream(name, x.report, r))
		ends = append(ends, w)
	}
	return ends, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// close closes the reading ends. What goes on in the background may still write: that is read and dropped, so that it
// is not ended by it.
func (x *execution) close() {
	for _, s := range x.streams {
		if x.linger && s.open {
			go s.discard()
			continue
		}
		_ = s.pipe.Close()
	}
}

// startError says why bash did not start.
func startError(bash string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		e := agenttool.Failure(agenttool.DependencyUnavailable, "no_resources",
			fmt.Sprintf("the command was not started: the system has no process or file left (%v); try again later", err))
		return e.Because(err)
	}
	return agenttool.Failure(agenttool.ExecutionFailed, "start_failed",
		fmt.Sprintf("the command was not started: %s: %v", bash, err)).Because(err)
}

// cause is why a command ended.
type cause uint8

const (
	byItself cause = iota
	byTimeout
	byContext
)

// follow waits for the command's end, or brings it about, and collects what it left.
func (x *execution) follow(ctx context.Context) *outcome {
	o := &outcome{input: x.call.input, cwd: x.call.dir(), cause: x.watch(ctx)}
	gone := true
	if o.cause != byItself {
		gone = x.terminate()
	}
	open, wait := drain(x.streams, x.call.tool.o.Drain), patience
	if open { // who has closed both pipes may be about to exit, and is no leftover then; others have had their time
		wait = 0
	}
	x.leftovers(o, open, wait)
	if gone {
		o.ending = x.job.reap()
	} else {
		o.ending, o.stuck = ending{code: -1}, x.job.number()
		x.job.abandon()
	}
	if b, ok := x.job.(boxed); ok {
		o.blocked = b.Violations()
		confined := b.Confinement()
		o.confined = &confined
	}
	o.took = time.Since(x.started)
	o.collect(x.streams[0].capture, x.streams[1].capture)
	if o.confined != nil && o.ending.code > 0 && o.kept() == nil {
		o.blocked = append(o.blocked, x.job.(boxed).Hints(o.stderr.text, o.cwd)...)
	}
	return o
}

// leftovers ends what the command left behind, or names it where it may go on.
func (x *execution) leftovers(o *outcome, open bool, wait time.Duration) {
	if x.linger && o.cause == byItself {
		o.running = x.job.end(wait, true)
		return
	}
	left := x.job.end(wait, false)
	if open && resume(x.streams, settle) {
		o.holders = holders(x.openPipesLeft(), x.job.number())
	}
	if o.cause == byItself {
		o.leftovers = left
	}
}

// openPipesLeft are the pipes that somebody can still write to.
func (x *execution) openPipesLeft() []*os.File {
	var open []*os.File
	for _, s := range x.streams {
		if s.open {
			open = append(open, s.pipe)
		}
	}
	return open
}

// watch reports progress until the command exits, its time is over or the call is cancelled.
func (x *execution) watch(ctx context.Context) cause {
	deadline := time.NewTimer(time.Duration(x.call.input.TimeoutMS) * time.Millisecond)
	defer deadline.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var p progress
	for {
		select {
		case <-x.job.exited():
			return byItself
		case <-deadline.C:
			return x.unlessExited(byTimeout)
		case <-ctx.Done():
			return x.unlessExited(byContext)
		case <-tick.C:
			p.step(x)
		}
	}
}

// unlessExited returns c, or byItself if the command made it in time.
func (x *execution) unlessExited(c cause) cause {
	select {
	case <-x.job.exited():
		return byItself
	default:
		return c
	}
}

// terminate ends the command: SIGTERM to all of it, then, when the grace is over and something is left, SIGKILL. A
// stopped process is continued, since it would not notice otherwise. It reports whether the process is gone.
func (x *execution) terminate() bool {
	x.job.signal(syscall.SIGTERM)
	x.job.signal(syscall.SIGCONT)
	grace := time.After(x.call.tool.o.Grace)
	select {
	case <-x.job.exited():
		x.awaitOthers(grace)
	case <-grace:
	}
	x.linger = false
	x.job.end(0, false)
	select {
	case <-x.job.exited():
		return true
	case <-time.After(killWait):
		return false
	}
}

// awaitOthers gives those that the leader left the rest of the grace. There is nothing to wait on but the process
// table, which is looked at in turns.
func (x *execution) awaitOthers(grace <-chan time.Time) {
	tick := time.NewTicker(alivePoll)
	defer tick.Stop()
	for x.job.alive() {
		select {
		case <-grace:
			return
		case <-tick.C:
		}
	}
}
