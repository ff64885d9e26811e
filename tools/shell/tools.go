package shell

import (
	"cmp"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// New returns the tools "shell", which runs commands with bash in directories of w as jobs, and "shell_output", "shell_input" and
// "shell_kill", which read, answer and end them. It does no IO.
//
// Agent Tool v0.2.0, tool kind shell_command (AT-045), execution kind shell (AT-444).
func New(w *workspace.Workspace, o Options) []agenttool.Tool {
	o.DefaultTimeout = cmp.Or(o.DefaultTimeout, defaultTimeout)
	t := &tool{w: w, o: o, histories: &histories{}}
	return []agenttool.Tool{
		t,
		reader{jobs: o.Jobs},
		feeder{shell: t},
		killer{jobs: o.Jobs},
	}
}
