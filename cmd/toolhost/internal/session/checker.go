package session

import (
	"fmt"
	"os"
	"path/filepath"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/permissions/protect"
	"toolhost/persist"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// Checker decides about calls as a session would, and runs none.
type Checker struct {
	Host  *host.Host
	Hooks []hook.Hook // those of the settings, which a checker does not run

	Secret func(path string) bool // reports whether an absolute path is a file that calls do not read

	roots *workspace.Workspace
	names *protect.Cache
}

// NewChecker makes a checker for a session that is yet to begin, whose sandbox is of a level. It calls neither Store nor writes files.
func NewChecker(o Options, level sandbox.Level) (*Checker, error) {
	l, w, err := o.openSettings()
	if err != nil {
		return nil, err
	}
	p := l.now.Policy
	if p.Confines = level == sandbox.Full; p.Confines {
		state, err := dirs.State()
		if err != nil {
			return nil, err
		}
		w.ShowNew("/tmp", filepath.Join(dirs.Target(state), "scratch", "new"), confine.Shown()...)
		w.ShowNew("/var/tmp", filepath.Join(dirs.Target(state), "scratch", "new-var"), confine.Shown()...)
	}
	programs := &sandbox.Programs{}
	p.Holds = func(program string) bool {
		return programs.Holds(program, level, l.scope.Roots, append(os.Environ(), l.environ()...))
	}
	for _, warning := range l.warnings {
		o.Log(visible.Text(warning))
	}
	c := &Checker{Hooks: l.now.Hooks, Secret: p.Secret, roots: w, names: confine.Names(l.scope, l.now.Secrets, l.now.Sealed())}
	w.Guard(confine.Recent(c.names))
	p.Names = confine.Named(c.names)
	c.Host, err = host.New(host.Options{
		Tools: builtin.Tools(w, builtin.Options{Environ: l.environ, Shell: shell.Session{Jobs: job.New(job.Options{}), Keep: watched(l.copies(true), level)}}), Scope: l.scope, Locate: w.Locate, Policy: p,
		Store: persist.New(persist.Options{Ephemeral: true}), PanicLog: func(m string) { fmt.Fprintln(output.Stderr(), m) },
	})
	return c, err
}

// Close releases the workspace.
func (c *Checker) Close() {
	c.names.Close()
	c.roots.Close()
}
