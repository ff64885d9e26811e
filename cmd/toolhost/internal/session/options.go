package session

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/limit"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/persist"
	"toolhost/persist/redact"
	"toolhost/sandbox"
	"toolhost/settings"
	"toolhost/tools/workspace"
)

// Options say how a session is made. Most are flags of the command line; settings in force count before them as [policy.Choose] says.
type Options struct {
	Workspace   string   // the directory where calls start
	AddDirs     []string // further directories of the workspace
	Settings    string   // a further file of settings; "" for none
	Policy      policy.Flags
	Sandbox     string // the level that commands run under at least
	MaxParallel int
	MaxJobs     int
	JobTimeout  time.Duration
	JobLimits   []string
	Overwrite   bool // write replaces files that this session has not read
	Reachable   bool // the session listens at a socket once a command starts or a prompt opens
	Version     string
	Given       []string // flags of the command line, for the log
	Memory      int64    // bytes that the process may have where that is less than usual; 0: the usual bound

	// Store makes the log of the session, for a workspace. The redactor takes secrets out of all that is stored.
	Store func(root string, r *redact.Redactor) (*persist.Store, error)

	// Tools changes the tools of the session; nil leaves them.
	Tools func([]agenttool.Tool) []agenttool.Tool

	// Log takes lines for the person who started toolhost.
	Log func(line string)
}

// check reports which numbers cannot be used.
func (o Options) check() error {
	if o.MaxJobs < 1 {
		return fmt.Errorf("--max-jobs %d: no command could run: give 1 or more", o.MaxJobs)
	}
	if o.MaxParallel < 1 {
		return fmt.Errorf("--max-parallel %d: no call could run: give 1 or more", o.MaxParallel)
	}
	return nil
}

// OpenWorkspace opens the workspace, with further directories, and returns where calls start.
func (o Options) OpenWorkspace(added ...string) (*workspace.Workspace, agenttool.Scope, error) {
	if o.Workspace == "" {
		return nil, agenttool.Scope{}, errors.New("--workspace is empty: name a directory")
	}
	state, err := dirs.State()
	if err != nil {
		return nil, agenttool.Scope{}, err
	}
	private := append(dirs.Sockets(), state)
	if dir := dirs.Config(); dir != "" {
		private = append(private, dir)
	}
	w, err := workspace.Open(slices.Concat([]string{o.Workspace}, o.AddDirs, added), append(private, o.Policy.Own...)...)
	if err != nil {
		return nil, agenttool.Scope{}, fmt.Errorf("%w: give a directory that is there, with --workspace or --add-dir", err)
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	roots := w.Roots()
	return w, agenttool.Scope{Dir: roots[0], Roots: roots, Home: home}, nil
}

// Scope returns the directory, roots and home that a session with these options would have. It fails if the settings cannot be read.
func (o Options) Scope() (agenttool.Scope, error) {
	l, w, err := o.openSettings()
	if err != nil {
		return agenttool.Scope{}, err
	}
	w.Close()
	return l.scope, nil
}

// limits are those of every command, and of all together: of settings, and of the command line, which come later and so count.
func (o Options) limits(read *settings.Settings) ([]sandbox.Limit, sandbox.Bounds, error) {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(read.JobLimits)) {
		texts = append(texts, name+"="+read.JobLimits[name].V)
	}
	limits, bounds, err := limit.Parse(append(texts, o.JobLimits...))
	if err != nil {
		return nil, bounds, fmt.Errorf("--job-limit: %w", err)
	}
	return limits, bounds, nil
}

// CheckHome refuses a workspace that is or holds the person's home unless the command line names it.
func (o Options) CheckHome() error {
	root, err := filepath.Abs(o.Workspace)
	if err != nil {
		return nil // opening the workspace reports it
	}
	root = dirs.Real(root)
	home, found := homeIn(root)
	if !found || o.Policy.Is("workspace") {
		return nil
	}
	return homeError(root, home)
}

// openSettings reads the settings and opens the workspace.
func (o Options) openSettings() (*live, *workspace.Workspace, error) {
	root, err := filepath.Abs(o.Workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("--workspace %s: %w", o.Workspace, err)
	}
	from, err := policy.SettingsFiles(dirs.Real(root), o.Settings)
	if err != nil {
		return nil, nil, err
	}
	from.Roots = dirs.RealAll(o.AddDirs)
	watcher, err := settings.Open(from)
	if err == nil && o.Settings != "" && len(watcher.Current().AddDirs) > 0 { // the file may lie in one of them
		for _, dir := range watcher.Current().AddDirs {
			from.Roots = append(from.Roots, dirs.Real(dir.V))
		}
		watcher, err = settings.Open(from)
	}
	if err != nil {
		return nil, nil, policy.Problems(err)
	}
	read := watcher.Current()
	var added []string
	for _, dir := range read.AddDirs {
		added = append(added, dir.V)
	}
	w, scope, err := o.OpenWorkspace(added...)
	if err != nil {
		return nil, nil, err
	}
	m, err := policy.New(o.Policy, read, scope)
	if err != nil {
		w.Close()
		return nil, nil, err
	}
	return &live{scope: scope, files: from, watcher: watcher, now: m, warnings: policy.Warnings(read)}, w, nil
}
