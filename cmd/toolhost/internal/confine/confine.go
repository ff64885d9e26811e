// Package confine makes the sandbox of a session: it chooses the level that the machine holds, and says what the sandbox shows and hides.
package confine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/repositories"
	"toolhost/permissions/protect"
	"toolhost/persist/cache"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// Confinement is the sandbox of a session.
type Confinement struct {
	Session *sandbox.Session // nil: commands run unconfined, or not at all
	Starter *sandbox.Session // starts commands, confined or not
	Refusal error            // why no command runs; nil: they run
	Level   sandbox.Level
	Names   *protect.Cache // the protected names, and those that are not read

	finding      sandbox.Finding
	makeDirs     func() error // makes the directories of the session; nil: it has none
	stage        atomic.Pointer[string]
	releaseCache func() // lets the caches be pruned again; nil: there are none
}

// Options configure a sandbox.
type Options struct {
	Required string // the level below which nothing runs; none asks for no sandbox
	Name     string // of the session
	Limits   []sandbox.Limit
	Bounds   sandbox.Bounds
	Secrets  []string // globs of files that are not read, in the form of [protect.DefaultReadDeny]
	Sealed   []string // further names that no command writes

	Changed func(sandbox.Violation) // called when a protected name was changed; nil is not called
}

// New makes the sandbox of a session. If the machine offers a lower level than required, Refusal says so.
func New(with Options, w *workspace.Workspace, scope agenttool.Scope) (*Confinement, error) {
	write, read, pointers := besides(scope)
	roots := slices.Concat(scope.Roots, write)
	protected := Names(scope, with.Secrets, with.Sealed)
	w.Guard(Recent(protected))
	least, err := agenttool.ParseLevel(with.Required)
	if err != nil {
		return nil, fmt.Errorf("--sandbox: %w", err)
	}
	if least == sandbox.None {
		return (&Confinement{Level: sandbox.None, Names: protected}).unconfined(with)
	}
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	c := &Confinement{finding: Found(state), Names: protected}
	var ready func() error
	if c.Level = c.finding.Level; c.finding.Momentary {
		c.Level, ready = sandbox.Full, func() error { return stillFull(state) }
	}
	if !c.Level.AtLeast(least) {
		c.Refusal = tooWeak(least, c.finding)
		return c.unconfined(with)
	}
	o, err := sandboxOptions(scope, state, with.Name, protected)
	if err != nil {
		return nil, err
	}
	o.Roots, o.Named, o.Beside = roots, w.Named(), slices.Concat(read, pointers)
	o.Level, o.Limits, o.Bounds, o.Changed, o.Ready = c.Level, with.Limits, with.Bounds, with.Changed, ready
	o.NotMade = func() { sandbox.Forget(foundDirs(state)...) }
	if c.Session, err = sandbox.Open(o); err != nil {
		return nil, err
	}
	c.Starter = c.Session
	c.makeDirs = func() error {
		c.releaseCache, _ = cache.Hold(o.Cache, scope.Dir, time.Now()) // without the note it is pruned by its age
		return c.makeIn(state, w)
	}
	return c, nil
}

// besides are the places of the workspace's repositories that lie outside of it: git directories, which commands write but for the names
// that git runs or obeys, the rest of work trees, which they read, and the .git files of further work trees: git forgets those that are missing.
func besides(scope agenttool.Scope) (write, read, pointers []string) {
	outside := func(dir string, known []string) bool {
		return !slices.ContainsFunc(known, func(root string) bool { return agenttool.Within(root, dir) })
	}
	for _, root := range scope.Roots {
		c, ok := protect.CheckoutOf(root, dirs.Real(scope.Home))
		if !ok {
			continue
		}
		for _, dir := range []string{c.Common, c.GitDir} {
			if outside(dir, scope.Roots) && outside(dir, write) {
				write = append(write, dir)
			}
		}
		if outside(c.Top, scope.Roots) && outside(c.Top, read) {
			read = append(read, c.Top)
		}
		for _, file := range c.Linked() {
			if outside(file, scope.Roots) && outside(file, read) && outside(file, pointers) {
				pointers = append(pointers, file)
			}
		}
	}
	return write, read, pointers
}

// Beside are the rest of the work trees that contain roots of the workspace. Commands read them, but for secrets.
func Beside(scope agenttool.Scope) []string {
	_, read, _ := besides(scope)
	return read
}

// Prepare makes the directories of the session. It is called before the first command.
func (c *Confinement) Prepare() error {
	if c.makeDirs == nil {
		return nil
	}
	return c.makeDirs()
}

// Stage is the session's directory for files that are about to replace others, "" before [Confinement.Prepare] and where there is none.
func (c *Confinement) Stage() string {
	if stage := c.stage.Load(); stage != nil {
		return *stage
	}
	return ""
}

// Close removes the directories of the session.
func (c *Confinement) Close() error {
	err := c.Starter.Close()
	if c.releaseCache != nil {
		c.releaseCache()
	}
	return err
}

// makeIn makes the directories of the session, and has the file tools see its scratch as commands do.
func (c *Confinement) makeIn(state string, w *workspace.Workspace) error {
	if err := c.Session.Make(); err != nil {
		return err
	}
	c.staged(c.Session)
	scratch := c.Session.Scratch()
	if scratch == "" {
		return nil
	}
	if !agenttool.Within(dirs.Target(state), scratch) {
		fmt.Fprintf(output.Stderr(), "toolhost: %s cannot be written: the temporary files of this session are in %s\n", state, scratch)
	}
	if err := w.Show("/tmp", scratch, c.Session.Make, c.Session.Shown()...); err != nil {
		return err
	}
	return w.Show("/var/tmp", c.Session.VarScratch(), c.Session.Make, c.Session.Shown()...)
}

// tooWeak says that the machine holds less than is required.
func tooWeak(least sandbox.Level, found sandbox.Finding) error {
	if found.Momentary {
		return agenttool.Failure(agenttool.DependencyUnavailable, agenttool.ResourceExhausted, fmt.Sprintf(
			"no command runs now: the machine is short of resources for a sandbox (%s): wait until other calls or jobs have ended, and try again", found.Why()))
	}
	if err := found.Failing(); err != nil {
		return agenttool.SystemFailure("no command runs: no sandbox could be tried ("+found.Why()+")", err)
	}
	return agenttool.Failure(agenttool.SetupRequired, "sandbox_required", fmt.Sprintf(
		"no command runs: --sandbox %s is required, and this machine holds %s (%s): see toolhost doctor, or run commands unconfined with --sandbox none",
		least, found.Level, found.Why()))
}

// Found is the level that this machine holds. The first start probes it, and the finding is kept until the machine is started again: for
// every session, check and hook of this user. A session whose command cannot enter its sandbox forgets it.
func Found(state string) sandbox.Finding { return sandbox.ProbeOnce(foundDirs(state)...) }

// foundDirs are the directories that keep the finding, the best first: what the runtime directory holds ends with the machine's start, too.
func foundDirs(state string) []string {
	if dir := dirs.Runtime(); dir != "" {
		return []string{filepath.Join(dir, "toolhost"), state}
	}
	return []string{state}
}

// stillFull probes a machine again that lacked something for a moment. Commands were classified for the full sandbox, and run in no
// lesser one.
func stillFull(state string) error {
	found := Found(state)
	if found.Level == sandbox.Full {
		return nil
	}
	return tooWeak(sandbox.Full, found)
}

// unconfined gives c a starter of commands that run as the person does.
func (c *Confinement) unconfined(with Options) (_ *Confinement, err error) {
	o := sandbox.Options{Level: sandbox.None, Limits: with.Limits, Fallbacks: scratchFallbacks(with.Name)}
	if state, err := dirs.State(); err == nil {
		o.Dir = scratchDir(state, with.Name)
	}
	if c.Starter, err = sandbox.Open(o); err != nil {
		return nil, err
	}
	c.makeDirs = func() error {
		if c.Starter.Make() == nil { // without it, files get their names where they are
			c.staged(c.Starter)
		}
		return nil
	}
	return c, nil
}

// scratchDir is the directory of a session.
func scratchDir(state, name string) string { return filepath.Join(state, "scratch", name) }

// staged has the file tools use the stage of a session.
func (c *Confinement) staged(s *sandbox.Session) {
	stage := s.Stage()
	c.stage.Store(&stage)
}

// sandboxOptions describe the sandbox for a workspace.
func sandboxOptions(scope agenttool.Scope, state, name string, protected *protect.Cache) (sandbox.Options, error) {
	o := sandbox.Options{
		Roots: scope.Roots, Home: scope.Home, Runtime: dirs.Runtime(),
		Dir:       scratchDir(state, name),
		Fallbacks: scratchFallbacks(name),
		Cache:     dirs.Cache(state, scope.Dir),
		Hidden:    slices.DeleteFunc([]string{state, dirs.Config()}, func(dir string) bool { return dir == "" }), // the sockets are in state, or in directories that no sandbox shows
		Protected: protected, LetLive: repositories.AllowedSince,
		Show: Shown(),
	}
	if exe, err := os.Executable(); err == nil {
		o.Program = exe
	}
	o.Readable = Readable(scope.Home, scope.Roots)
	o.Go.ModCache, o.Go.Proxy = goSettings(scope.Home)
	o.ConfigHome = dirs.Absolute("XDG_CONFIG_HOME")
	o.Go.Cache = goCache(scope.Home)
	o.UserCaches = userCaches(scope.Home, o.Go.ModCache)
	return o, nil
}

// scratchFallbacks are directories for the scratch of a session if the state directory is full or cannot be written.
func scratchFallbacks(name string) []string {
	own := "toolhost-" + strconv.Itoa(os.Getuid())
	all := []string{filepath.Join("/dev/shm", own), filepath.Join("/var/tmp", own), filepath.Join("/tmp", own)}
	if dir := dirs.Runtime(); dir != "" {
		all = append([]string{filepath.Join(dir, "toolhost")}, all...)
	}
	for i, dir := range all {
		all[i] = filepath.Join(dir, "scratch", name)
	}
	return all
}

// Shown are directories that commands see as they are, wherever they lie.
func Shown() []string { return append(filepath.SplitList(os.Getenv("PATH")), installed()...) }

// guardAge is how long the file tools use a map of the protected names: making one takes as long as a read.
const guardAge = time.Second

// Recent returns the map of a cache, which it asks every guardAge, and when the cache was amended.
func Recent(names *protect.Cache) func() (*protect.Map, error) {
	var mu sync.Mutex
	var kept *protect.Map
	var at time.Time
	var amended int
	return func() (*protect.Map, error) {
		mu.Lock()
		defer mu.Unlock()
		last := amended
		amended = names.Amended()
		if kept != nil && last == amended && time.Since(at) < guardAge {
			return kept, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		m, err := names.Map(ctx)
		if err == nil {
			kept, at = m, time.Now()
		}
		return m, err
	}
}

// namesPatience is how long a decision waits for the map of the protected names.
const namesPatience = 30 * time.Second

// Named is the question of [permissions.Policy] about the protected names, for those of a session and of what a call writes beside: as they are now.
func Named(names *protect.Cache) func([]agenttool.Path) (*protect.Map, error) {
	return func(writes []agenttool.Path) (*protect.Map, error) {
		ctx, cancel := context.WithTimeout(context.Background(), namesPatience)
		defer cancel()
		var outside []string
		for _, w := range writes {
			if w.Root == "" && !w.Private && w.Resolved != "" {
				outside = append(outside, w.Resolved)
			}
		}
		return names.Including(ctx, outside)
	}
}

// Names are the protected names of a workspace, which calls of all kinds are judged by.
func Names(scope agenttool.Scope, secrets, sealed []string) *protect.Cache {
	write, read, _ := besides(scope)
	return protect.NewCache(protect.Options{
		Roots: slices.Concat(scope.Roots, write, read), Home: dirs.Real(scope.Home), ReadDeny: secrets, Sealed: sealed,
	}, 0)
}

// Describe is the description of the sandbox that clients get with the greeting.
func (c *Confinement) Describe() map[string]any {
	if c.Refusal != nil {
		return map[string]any{"level": c.Level, "detail": c.Refusal.Error()}
	}
	if c.Session == nil {
		return map[string]any{"level": sandbox.None, "detail": "commands run as you, unconfined, because --sandbox none was asked for"}
	}
	d := map[string]any{"level": c.Level, "landlock_abi": c.finding.LandlockABI}
	if why := c.finding.Why(); c.finding.Momentary {
		d["detail"] = "not certain: it is probed again for the first command (" + why + ")"
	} else if why != "" {
		d["detail"] = why
	}
	return d
}
