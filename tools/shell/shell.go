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
	"toolhost/tools/workspace"
)

// Options say how commands are run.
type Options struct {
	Environ        []string      // the host's environment, as os.Environ gives it; nil is empty
	Bash           string        // absolute path of bash; "" is /bin/bash, or else the first in the PATH of Environ
	Grace          time.Duration // between SIGTERM and SIGKILL; 0 is 2 s
	Drain          time.Duration // for reading on after the exit; 0 is 300 ms
	DefaultTimeout time.Duration // of a call that names none; 0 is 120 s

	Sandbox *sandbox.Session // of this host; nil where there is none, and commands run as the person does
	Refuse  error            // why no command runs: the machine holds less than the person requires; nil otherwise
}

// The times that the zero Options stand for, and those that are the same for all.
const (
	defaultGrace   = 2 * time.Second
	defaultDrain   = 300 * time.Millisecond
	defaultTimeout = 2 * time.Minute
	maxTimeout     = time.Hour

	settle    = 50 * time.Millisecond // for reading what was left in the pipes when the last writer was killed
	killWait  = 5 * time.Second       // for a killed process to be gone, which takes longer only inside the kernel
	patience  = 50 * time.Millisecond // for processes that are about to exit
	alivePoll = 20 * time.Millisecond // between looks at whether a process is left during the grace
)

// tool is the shell tool.
type tool struct {
	w *workspace.Workspace
	o Options
}

// New returns the tool "shell", which runs commands with bash in directories of w. It does no IO.
//
// Agent Tool v0.2.0, tool kind shell_command (AT-045), execution kind shell (AT-444).
func New(w *workspace.Workspace, o Options) agenttool.Tool {
	orDefault(&o.Grace, defaultGrace)
	orDefault(&o.Drain, defaultDrain)
	orDefault(&o.DefaultTimeout, defaultTimeout)
	return &tool{w: w, o: o}
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// Bind decodes and checks input and states what is known of it. Errors are of class invalid_arguments, or
// capability_gap for what is not there yet.
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
	in.Cwd = cwd.Absolute
	c := &call{tool: t, input: in}
	c.facts, c.programs = facts(in.Command, cwd, scope.Home)
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
