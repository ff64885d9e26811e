package shell

import (
	"context"
	"fmt"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// call is one command, bound.
type call struct {
	tool  *tool
	input input
	facts agenttool.Facts

	grants   sandbox.Grants
	programs []string // the names by which it starts programs, where they are known
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

// Run runs the command and waits for its end. It returns an Output together with an error when the command ran and
// did not succeed: of class execution_failed for an exit status or signal, timeout when its own timeout_ms passed,
// the context's cause when that was done. What cannot be started is execution_failed or setup_required.
func (c *call) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx)
	}
	x, err := c.launch(r)
	if err != nil {
		return agenttool.Output{}, err
	}
	defer x.close()
	out := x.follow(ctx)
	return out.output(), out.failure(ctx)
}
