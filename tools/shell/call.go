package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/creack/pty"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/keep"
	"toolhost/tools/workspace"
)

// Warranted implements [agenttool.Warranted].
func (c *call) Warranted() { c.mayLose = true }

func (c *call) Input() any { return c.input }

func (c *call) Facts() *agenttool.Facts { return &c.facts }

// How long a command may take to begin where its call has no deadline: as long as it may run, within these.
const (
	leastStart = 10 * time.Second
	mostStart  = time.Minute
)

// OwnTime implements [agenttool.Bounded].
func (c *call) OwnTime() time.Duration {
	return min(max(time.Duration(c.input.TimeoutMS)*time.Millisecond, leastStart), mostStart)
}

// Preflight fails if the directory cannot be entered, bash is missing, or a program of a read-only command lies in
// the workspace.
func (c *call) Preflight(context.Context) error {
	if c.tool.o.Refuse != nil {
		return c.tool.o.Refuse
	}
	dir, err := c.openDir()
	if err != nil {
		return err
	}
	dir.Close()
	if err := c.checkPrograms(); err != nil {
		return err
	}
	_, err = c.tool.bash()
	return err
}

// openDir opens the located directory. It fails outside the roots.
func (c *call) openDir() (*workspace.Dir, error) {
	cwd := *c.facts.Dir
	if cwd.Resolved != "" && cwd.Root == "" {
		e := agenttool.Failure(agenttool.InvalidArguments, "cwd_outside_workspace", fmt.Sprintf(
			"cwd %s is outside the workspace: commands start in a directory below one of its roots", cwd.Spelling))
		e.Pointer, e.BlockedPath = "/cwd", cwd.Resolved
		return nil, e
	}
	dir, err := c.tool.w.OpenDir(cwd)
	return dir, c.tool.w.Suggest(cwd, err)
}

// Run starts the command as a job and waits until it exits, its timeout_ms is over, or it waits for input. In the
// last two cases, and with run_in_background, the job continues and the Output is marked as yielded.
//
// Run returns an Output together with an error if the command ran but failed: of class execution_failed for an exit
// status or signal, of class sandbox_violation if the sandbox blocked something, or the context's cause if the
// context ended, which also ends the job. If the command cannot be started, the class is execution_failed,
// setup_required, rate_limited or dependency_unavailable.
func (c *call) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx)
	}
	j, err := c.start(ctx, r)
	if err != nil {
		return agenttool.Output{}, err
	}
	o := &outcome{call: c, job: j, why: background}
	if !c.input.RunInBackground {
		over := func() {}
		if b, ok := r.(agenttool.Beginner); ok {
			over = b.Begun()
		}
		o.why = c.await(ctx, j, r)
		over()
	}
	o.collect()
	return o.output(), o.failure(ctx)
}

// await waits for the job. A job that outlives the wait continues by itself, unless the call was cancelled.
func (c *call) await(ctx context.Context, j *job.Job, r agenttool.Reporter) why {
	p := progress{job: j, command: c.input.Command, report: r, limit: c.input.TimeoutMS}
	wait := job.Wait{Limit: c.room.Wait(time.Duration(c.input.TimeoutMS) * time.Millisecond), Until: c.room.Until, Tick: p.step}
	switch j.Await(ctx, wait) {
	case job.Limit:
		j.Detach()
		return limit
	case job.Waiting:
		j.Detach()
		return waiting
	case job.Done:
		j.Abort()
		return canceled
	}
	return exited
}

// start starts the job.
func (c *call) start(ctx context.Context, r agenttool.Reporter) (*job.Job, error) {
	bash, err := c.tool.bash()
	if err != nil {
		return nil, err
	}
	dir, err := c.openDir()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	env, err := c.environ()
	if err != nil {
		return nil, err
	}
	profile := c.profile()
	profile.Git = c.gitJudge(profile)
	c.environment = env
	excerpt, lines := c.room.Page(textBytes, 0)
	var keeps sandbox.Keeper
	if c.kept = c.tool.o.Keep.Call(string(r.Invocation())); c.kept != nil {
		keeps = keeper{c.kept}
	}
	return c.tool.o.Jobs.Start(ctx, &job.Spec{
		Line: c.input.Command, Reporter: r, Background: c.input.RunInBackground,
		DataOnly: c.takesData(), Shell: c.startsShell,
		Stdin: c.stdin(), Size: pty.Winsize{Cols: c.input.Columns, Rows: c.input.Rows}, Note: c.moves(),
		Excerpt: excerpt, Lines: lines,
		Command: sandbox.Command{
			Path: bash, Args: c.argv(), Script: c.script(), Env: env, Dir: c.dir(), At: dir.File(), Profile: profile,
			Keeps: keeps, MayLose: c.mayLose,
		},
	})
}

// argv disables every start-up file. -c alone reads none, except that a bash that believes it was started by rshd or
// sshd reads ~/.bashrc: --norc prevents this. Without -- a command like "-i" would be an option.
func (c *call) argv() []string {
	argv := []string{"bash", "--noprofile", "--norc", "-c", "--"}
	if c.replacesBash() {
		return append(argv, c.input.Command)
	}
	return append(argv, job.ReadLine(c.moves()), "bash")
}

// script returns the line that bash reads from a descriptor, so that it stands in no argument: pgrep -f and pkill -f would find the
// bash that runs them.
func (c *call) script() string {
	switch {
	case c.replacesBash():
		return ""
	case c.moves():
		return sayWhere + c.input.Command
	}
	return c.input.Command
}

// replacesBash reports whether bash becomes the only program of the line at once, and is there for nothing else.
func (c *call) replacesBash() bool { return !c.moves() && classify.ReplacesShell(c.input.Command) }

// stdin returns the kind of standard input. In the foreground no person can answer, so most commands get an empty
// input. A command that is known to ask questions gets a pipe, and so does one in the background: shell_input writes
// there. Search tools get none, because they would search the pipe instead of the directory.
func (c *call) stdin() job.Stdin {
	switch {
	case c.input.TTY:
		return job.Terminal
	case c.facts.Interactive == agenttool.Yes && !slices.ContainsFunc(c.programs, asksTerminal), c.input.RunInBackground && !slices.ContainsFunc(c.programs, searchesStdin):
		return job.Open
	}
	return job.Nothing
}

// asksTerminal reports whether a program asks its questions on a terminal, and asks none without one.
func asksTerminal(program string) bool {
	return slices.Contains([]string{"more", "less", "most", "man", "info", "top", "htop", "watch", "passwd", "ssh", "sudo", "su"}, program)
}

func searchesStdin(program string) bool { return program == "rg" || program == "ag" }

// keeper is a record of changes for the sandbox.
type keeper struct{ *keep.Call }

// Begin implements [sandbox.Keeper].
func (k keeper) Begin() sandbox.KeepStep { return k.Call.Begin() }
