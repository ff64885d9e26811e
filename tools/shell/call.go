package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/creack/pty"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/workspace"
)

// call is one command, bound.
type call struct {
	tool  *tool
	input input
	git   map[agenttool.GitRun]string // what is known of the repositories where it runs git
	home  string
	facts agenttool.Facts

	grants      sandbox.Grants
	programs    []string // the names by which it starts programs, where they are known
	startsShell bool     // it is a shell that reads commands
}

func (c *call) Input() any { return c.input }

func (c *call) Facts() *agenttool.Facts { return &c.facts }

// Preflight reports a directory that cannot be entered, a bash that is not there, and a program of a read-only command
// that lies in the workspace.
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

// openDir opens the directory that was located. Outside the roots there is none to run in.
func (c *call) openDir() (*workspace.Dir, error) {
	cwd := *c.facts.Dir
	if cwd.Resolved != "" && cwd.Root == "" {
		e := agenttool.Failure(agenttool.InvalidArguments, "cwd_outside_workspace", fmt.Sprintf(
			"cwd %s is outside the workspace: commands start in a directory below one of its roots", cwd.Spelling))
		e.Pointer, e.BlockedPath = "/cwd", cwd.Resolved
		return nil, e
	}
	return c.tool.w.OpenDir(cwd)
}

// dir is the directory that the command starts in.
func (c *call) dir() string { return c.facts.Dir.Resolved }

// Run starts the command as a job and waits for its end: until it exits, its timeout_ms is over, or it waits for input. In the
// last two cases, and with run_in_background, the job goes on and the Output is marked as yielded.
//
// It returns an Output together with an error when the command ran and did not succeed: of class execution_failed for an exit
// status or signal, sandbox_violation when the sandbox kept it from something, the context's cause when that was done:
// then the job was ended. What cannot be started is execution_failed, setup_required, rate_limited or
// dependency_unavailable.
func (c *call) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx)
	}
	j, err := c.start(r)
	if err != nil {
		return agenttool.Output{}, err
	}
	o := &outcome{call: c, job: j, why: background}
	if !c.input.RunInBackground {
		o.why = c.await(ctx, j, r)
	}
	o.collect()
	return o.output(), o.failure(ctx)
}

// await waits for the job. What nobody waits for any more goes on by itself, unless the call was cancelled.
func (c *call) await(ctx context.Context, j *job.Job, r agenttool.Reporter) why {
	p := progress{job: j, command: c.input.Command, report: r, limit: c.input.TimeoutMS}
	switch j.Await(ctx, job.Wait{Limit: time.Duration(c.input.TimeoutMS) * time.Millisecond, Tick: p.step}) {
	case job.Limit:
		j.Detach()
		return limit
	case job.Waiting:
		j.Detach()
		return waiting
	case job.Done:
		j.Terminate()
		return canceled
	}
	return exited
}

// start starts the job.
func (c *call) start(r agenttool.Reporter) (*job.Job, error) {
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
	return c.tool.o.Jobs.Start(&job.Spec{
		Line: c.input.Command, Reporter: r, Background: c.input.RunInBackground,
		DataOnly: c.takesData(), Shell: c.startsShell,
		Stdin: c.stdin(), Size: pty.Winsize{Cols: c.input.Columns, Rows: c.input.Rows}, Note: c.moves(),
		Excerpt: textBytes,
		Command: sandbox.Command{
			Path: bash, Args: c.argv(), Env: env, Dir: c.dir(), At: dir.File(), Profile: c.profile(),
		},
	})
}

// argv leaves out every start-up file. -c alone reads none, except that a bash that believes to be started by
// rshd or sshd reads ~/.bashrc: --norc forbids it. Without -- a command like "-i" would be an option.
func (c *call) argv() []string {
	line := c.input.Command
	if c.moves() {
		line = sayWhere + line
	}
	return []string{"bash", "--noprofile", "--norc", "-c", "--", line}
}

// stdin is what the command reads. Nobody is there to answer it in the foreground, so that most commands read nothing; one that
// is known to wait for answers gets a pipe, and so does one in the background: shell_input writes there. Search tools do not: they
// would search the pipe, and not the directory.
func (c *call) stdin() job.Stdin {
	switch {
	case c.input.TTY:
		return job.Terminal
	case c.facts.Interactive == agenttool.Yes && !slices.ContainsFunc(c.programs, asksTerminal), c.input.RunInBackground && !slices.ContainsFunc(c.programs, searchesStdin):
		return job.Open
	}
	return job.Nothing
}

// asksTerminal reports whether a program asks a terminal, and nobody where there is none.
func asksTerminal(program string) bool {
	return slices.Contains([]string{"more", "less", "most", "man", "info", "top", "htop", "watch", "passwd", "ssh", "sudo", "su"}, program)
}

func searchesStdin(program string) bool { return program == "rg" || program == "ag" }
