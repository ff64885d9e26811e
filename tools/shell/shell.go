package shell

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/workspace"
)

// Options say how commands are run.
type Options struct {
	Environ        []string        // the host's environment, as os.Environ gives it; nil is empty
	Added          func() []string // further "NAME=value" of the person's settings; nil: none. What is proved to read only does not get them
	Bash           string          // absolute path of bash; "" is /bin/bash, or else the first in the PATH of Environ
	DefaultTimeout time.Duration   // of a call that names none; 0 is 120 s

	Jobs       *job.Jobs        // of this host; nil to describe the tools only
	Sandbox    *sandbox.Session // of this host; nil where there is none, and commands run as the person does
	Unconfined func()           // told before a command runs unconfined; nil: nobody
	Refuse     error            // why no command runs: the machine holds less than the person requires; nil otherwise
}

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = time.Hour
)

// textBytes bounds what both streams together put before a model. Bytes are never fewer than characters.
const textBytes = 30_000

// tool is the shell tool.
type tool struct {
	w *workspace.Workspace
	o Options
}

// New returns the tools "shell", which runs commands with bash in directories of w as jobs, and "shell_output", "shell_input" and
// "shell_kill", which read, answer and end them. It does no IO.
//
// Agent Tool v0.2.0, tool kind shell_command (AT-045), execution kind shell (AT-444).
func New(w *workspace.Workspace, o Options) []agenttool.Tool {
	if o.DefaultTimeout == 0 {
		o.DefaultTimeout = defaultTimeout
	}
	t := &tool{w: w, o: o}
	return []agenttool.Tool{
		t,
		reader{jobs: o.Jobs},
		feeder{shell: t},
		killer{jobs: o.Jobs},
	}
}

// Bind decodes and checks input and states what is known of it. Errors are of class invalid_arguments.
func (t *tool) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	in, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if in.Cwd == "" {
		in.Cwd = scope.Dir
	}
	if in.TimeoutMS == 0 {
		in.TimeoutMS = t.o.DefaultTimeout.Milliseconds()
	}
	cwd, err := workspace.Path(scope, in.Cwd)
	if err != nil {
		return nil, err
	}
	in.Cwd = agenttool.SpellPath(cwd.Absolute)
	c := &call{tool: t, input: in}
	c.judge(cwd, scope.Home)
	return c, nil
}

// bash returns the path of bash. An error is of class setup_required.
func (t *tool) bash() (string, error) {
	candidates := []string{t.o.Bash}
	if t.o.Bash == "" {
		candidates = append([]string{"/bin/bash"}, t.searchPath()...)
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", agenttool.Failure(agenttool.SetupRequired, "bash_not_found",
		"no bash was found at "+strings.Join(candidates, ", ")+": install bash, or name its absolute path in the settings")
}

// searchPath returns where the PATH of the host may have a bash. The roots of the workspace are left out: whoever
// writes there would be every command.
func (t *tool) searchPath() []string {
	var candidates []string
	for _, dir := range filepath.SplitList(hostPath(t.o.Environ)) {
		inside := slices.ContainsFunc(t.w.Roots(), func(root string) bool {
			return root != "/" && agenttool.Within(root, filepath.Clean(dir))
		})
		if !inside {
			candidates = append(candidates, filepath.Join(dir, "bash"))
		}
	}
	return candidates
}

// hostPath returns the absolute entries of the host's PATH.
func hostPath(environ []string) string {
	for _, entry := range environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return absolutePath(path)
		}
	}
	return defaultPath
}
