package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/persist/cache"
	"toolhost/protect"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// confinement is the sandbox of a session: what it holds, and what hello and doctor say of it.
type confinement struct {
	session *sandbox.Session // nil: commands run as the person does, or not at all
	starter *sandbox.Session // starts them in any case
	refusal error            // why they do not run at all
	finding sandbox.Finding
	level   sandbox.Level
	names   *protect.Cache // what is protected and what is not read
	make    func() error   // makes the directories of the session; nil: it has none

	letCache func() // has the caches pruned again; nil: there are none
}

// confinementOptions are what a sandbox is made with.
type confinementOptions struct {
	required string // the level below which nothing runs; none asks for no sandbox
	name     string // of the session
	limits   []sandbox.Limit
	secrets  []string // what is not read, in the words of protect.DefaultReadDeny
	sealed   []string // what no command writes besides

	changed func(sandbox.Violation) // told of what the tripwire finds
}

// confine makes the sandbox of a session.
func confine(with confinementOptions, w *workspace.Workspace, scope agenttool.Scope) (*confinement, error) {
	protected := protect.NewCache(protect.Options{Roots: scope.Roots, Home: dirs.Real(scope.Home), ReadDeny: with.secrets, Sealed: with.sealed}, 0)
	w.Guard(recent(protected.Map))
	least, err := sandbox.ParseLevel(with.required)
	if err != nil {
		return nil, fmt.Errorf("--sandbox: %w", err)
	}
	if least == sandbox.None {
		return (&confinement{level: sandbox.None, names: protected}).unconfined(with.limits)
	}
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	c := &confinement{finding: sandbox.ProbeOnce(state), names: protected}
	var ready func() error
	if c.level = c.finding.Level; c.finding.Momentary {
		c.level, ready = sandbox.Full, func() error { return stillFull(state) }
	}
	if !c.level.AtLeast(least) {
		c.refusal = tooWeak(least, c.finding)
		return c.unconfined(with.limits)
	}
	o, err := sandboxOptions(scope, state, with.name, protected)
	if err != nil {
		return nil, err
	}
	o.Level, o.Limits, o.Changed, o.Ready = c.level, with.limits, with.changed, ready
	if c.session, err = sandbox.Open(o); err != nil {
		return nil, err
	}
	c.starter = c.session
	c.make = func() error {
		c.letCache, _ = cache.Hold(o.Cache, scope.Dir, time.Now()) // without the note it is pruned by its age
		return c.makeIn(state, w)
	}
	return c, nil
}

// prepare makes what the commands of the session need.
func (c *confinement) prepare() error {
	if c.make == nil {
		return nil
	}
	return c.make()
}

// makeIn makes the directories of the session, and has the file tools see its scratch as commands do.
func (c *confinement) makeIn(state string, w *workspace.Workspace) error {
	if err := c.session.Make(); err != nil {
		return err
	}
	sandbox.Remember(state, c.finding)
	scratch := c.session.Scratch()
	if scratch == "" {
		return nil
	}
	if !agenttool.Within(dirs.Target(state), scratch) {
		fmt.Fprintf(os.Stderr, "toolhost: %s cannot be written: the temporary files of this session are in %s\n", state, scratch)
	}
	return w.Show("/tmp", scratch, c.session.Shown()...)
}

// tooWeak says that the machine holds less than is required.
func tooWeak(least sandbox.Level, found sandbox.Finding) error {
	if found.Momentary {
		return agenttool.Failure(agenttool.DependencyUnavailable, agenttool.ResourceExhausted, fmt.Sprintf(
			"no command runs now: the machine is short of what a sandbox takes (%s): wait until other calls or jobs have ended, and try again", found.Why()))
	}
	return agenttool.Failure(agenttool.SetupRequired, "sandbox_required", fmt.Sprintf(
		"no command runs: --sandbox %s is required, and this machine holds %s (%s): see toolhost doctor, or run commands unconfined with --sandbox none",
		least, found.Level, found.Why()))
}

// stillFull probes again a machine that was short of something. Commands were judged as for the full sandbox, and run in no other.
func stillFull(state string) error {
	found := sandbox.ProbeOnce(state)
	if found.Level == sandbox.Full {
		return nil
	}
	return tooWeak(sandbox.Full, found)
}

// unconfined gives c what starts commands as the person would.
func (c *confinement) unconfined(limits []sandbox.Limit) (_ *confinement, err error) {
	c.starter, err = sandbox.Open(sandbox.Options{Level: sandbox.None, Limits: limits})
	return c, err
}

// sandboxOptions say what a sandbox is for: the roots of scope.
func sandboxOptions(scope agenttool.Scope, state, name string, protected *protect.Cache) (sandbox.Options, error) {
	o := sandbox.Options{
		Roots: scope.Roots, Home: scope.Home, Runtime: dirs.Runtime(),
		Dir:       filepath.Join(state, "scratch", name),
		Fallbacks: scratchFallbacks(name),
		Cache:     filepath.Join(dirs.Caches(state), digest(scope.Dir)),
		Hidden:    slices.DeleteFunc([]string{state, dirs.Config()}, func(dir string) bool { return dir == "" }), // the sockets are in state, or where no sandbox shows what is there
		Protected: protected, LetLive: letLiveSince,
		Show: shownPaths(),
	}
	if exe, err := os.Executable(); err == nil {
		o.Program = exe
	}
	o.GoModCache, o.GoProxy = goSettings(scope.Home)
	return o, nil
}

// scratchFallbacks are where the scratch of a session can be whose state directory is full or cannot be written.
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

// shownPaths are directories that commands see as they are, wherever they lie.
func shownPaths() []string { return append(filepath.SplitList(os.Getenv("PATH")), installed()...) }

// guardAge is how long the file tools use what they know of secrets: to look again takes as long as a whole read.
const guardAge = time.Second

// recent returns what get returned within the last second.
func recent(get func(context.Context) (*protect.Map, error)) func() (*protect.Map, error) {
	var mu sync.Mutex
	var kept *protect.Map
	var at time.Time
	return func() (*protect.Map, error) {
		mu.Lock()
		defer mu.Unlock()
		if kept != nil && time.Since(at) < guardAge {
			return kept, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		m, err := get(ctx)
		if err == nil {
			kept, at = m, time.Now()
		}
		return m, err
	}
}

// digest names the caches of a workspace.
func digest(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// installed are the directories of tool chains that the environment names.
func installed() []string {
	dirs := toolchains()
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(exe))
	}
	return dirs
}

// toolchains are those of them that hold nothing but tool chains.
func toolchains() []string {
	var dirs []string
	for _, name := range []string{"GOROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "GEM_HOME"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// goSettings are the person's module cache and proxies. What go itself would say takes as long as a whole sandbox.
func goSettings(home string) (modCache, proxy string) {
	modCache, proxy = os.Getenv("GOMODCACHE"), os.Getenv("GOPROXY")
	if modCache == "" {
		path, _, _ := strings.Cut(os.Getenv("GOPATH"), string(filepath.ListSeparator))
		if path == "" {
			path = filepath.Join(home, "go")
		}
		modCache = filepath.Join(path, "pkg", "mod")
	}
	if proxy == "" {
		proxy = distributedProxy()
	}
	return modCache, proxy
}

// distributedProxy is what the installed go comes with.
func distributedProxy() string {
	const otherwise = "direct"
	program, err := exec.LookPath("go")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return otherwise
	}
	f, err := os.Open(filepath.Join(filepath.Dir(filepath.Dir(program)), "go.env"))
	if err != nil {
		return otherwise
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "GOPROXY="); ok {
			return value
		}
	}
	return otherwise
}

// uncovered says what the sandbox should cover and cannot, "" for nothing.
func (c *confinement) uncovered() string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	m, err := c.names.Latest(ctx)
	if err != nil {
		return "what must be covered could not be found out: " + err.Error()
	}
	gaps := m.Uncovered()
	if len(gaps) == 0 {
		return ""
	}
	why := gaps[0].Reason
	if gaps[0].Path != "" {
		why = gaps[0].Path + " is " + why
	}
	if len(gaps) > 1 {
		why += fmt.Sprintf(" (and %d more)", len(gaps)-1)
	}
	return why
}

// describe is what hello says of the sandbox.
func (c *confinement) describe() map[string]any {
	if c.refusal != nil {
		return map[string]any{"level": c.level, "detail": c.refusal.Error()}
	}
	if c.session == nil {
		return map[string]any{"level": sandbox.None, "detail": "commands run as you, unconfined, because --sandbox none was asked for"}
	}
	d := map[string]any{"level": c.level, "landlock_abi": c.finding.LandlockABI}
	if why := c.finding.Why(); c.finding.Momentary {
		d["detail"] = "not certain: it is probed again for the first command (" + why + ")"
	} else if why != "" {
		d["detail"] = why
	}
	return d
}
