package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/keep"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// Options configure how commands run.
type Options struct {
	Environ        []string        // the host's environment, as os.Environ gives it; nil is empty
	Added          func() []string // further "NAME=value" of the user's settings; nil: none. Commands that provably only read do not get them
	Bash           string          // absolute path of bash; "" is /bin/bash, or else the first in the PATH of Environ
	DefaultTimeout time.Duration   // of a call that names none; 0 is 120 s
	Seen           *seen.Ledger    // learns which lines of files commands have shown; nil: nobody asks

	Session
}

// Session is the part of a session that commands run in.
type Session struct {
	Jobs       *job.Jobs             // of this host; nil to describe the tools only
	Sandbox    *sandbox.Session      // of this host; nil: commands run without a sandbox
	Unconfined func()                // called before a command runs unconfined; may be nil
	Shown      func() []string       // directories outside of the workspace that every command may read; nil: none
	Made       func() []string       // directories outside of the workspace that the session made; nil: none
	Denied     func() sandbox.Denied // programs that rules keep every command from running; nil: none
	Keep       *keep.Store           // keeps what commands change, at the levels that judge their calls; nil: nothing is kept
	Refuse     error                 // the reason why no command may run: the machine's sandbox is weaker than required; nil: none
}

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = time.Hour
)

// textBytes bounds the text of both streams in a result for the model.
const textBytes = 30_000

// tool is the shell tool.
type tool struct {
	w *workspace.Workspace
	o Options

	histories *histories
}

// Unready implements [agenttool.Unready]: without bash, or where the sandbox is too weak, no command runs.
func (t *tool) Unready() error {
	if t.o.Refuse != nil || t.w == nil {
		return t.o.Refuse
	}
	_, err := t.bash()
	return err
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

// searchPath returns the candidates for bash in the host's PATH. It omits the roots of the workspace, because a
// planted bash would run in every command.
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

// added lets the variables of the user's settings override others of the same names.
func (t *tool) added(env []string) []string {
	if t.o.Added == nil {
		return env
	}
	for _, entry := range t.o.Added() {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, entry)
	}
	return locale.Environ(env)
}
