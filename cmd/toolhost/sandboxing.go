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
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/protect"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// confinement is the sandbox of a session: what it holds, and what hello and doctor say of it.
type confinement struct {
	session *sandbox.Session // nil: commands run as the person does, or not at all
	refusal error            // why they do not run at all
	finding sandbox.Finding
	level   sandbox.Level
}

// confine makes the sandbox of a session. required is the level below which nothing runs; none asks for no sandbox.
func confine(required string, w *workspace.Workspace, scope agenttool.Scope, name string) (*confinement, error) {
	protected := protect.NewCache(protect.Options{Roots: scope.Roots, Home: realPath(scope.Home), ReadDeny: protect.DefaultReadDeny()}, 0)
	w.Guard(recent(protected.Map))
	least, err := sandbox.ParseLevel(required)
	if err != nil {
		return nil, fmt.Errorf("--sandbox: %w", err)
	}
	if least == sandbox.None {
		return &confinement{level: sandbox.None}, nil
	}
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	c := &confinement{finding: sandbox.ProbeOnce(state)}
	if c.level = c.finding.Level; !c.level.AtLeast(least) {
		c.refusal = agenttool.Failure(agenttool.SetupRequired, "sandbox_required", fmt.Sprintf(
			"no command runs: --sandbox %s is required, and this machine holds %s (%s): see toolhost doctor, or run commands unconfined with --sandbox none",
			least, c.level, c.finding.Why()))
		return c, nil
	}
	o, err := sandboxOptions(scope, state, name, protected)
	if err != nil {
		return nil, err
	}
	o.Level = c.level
	if c.session, err = sandbox.Open(o); err != nil {
		return nil, err
	}
	if scratch := c.session.Scratch(); scratch != "" {
		err = w.Show("/tmp", scratch, c.session.Shown()...)
	}
	return c, err
}

// sandboxOptions say what a sandbox is for: the roots of scope.
func sandboxOptions(scope agenttool.Scope, state, name string, protected *protect.Cache) (sandbox.Options, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		config = filepath.Join(scope.Home, ".config")
	}
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	o := sandbox.Options{
		Roots: scope.Roots, Home: scope.Home, Runtime: runtime,
		Dir:       filepath.Join(state, "scratch", name),
		Cache:     filepath.Join(state, "caches", digest(scope.Dir)),
		Hidden:    []string{state, filepath.Join(config, "toolhost")},
		Protected: protected,
		Show:      append(filepath.SplitList(os.Getenv("PATH")), installed()...),
	}
	if exe, err := os.Executable(); err == nil {
		o.Program = exe
	}
	o.GoModCache, o.GoProxy = goSettings(scope.Home)
	return o, nil
}

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

// realPath is path without links, or path itself where it leads nowhere.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// digest names the caches of a workspace.
func digest(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// installed are the directories of tool chains that the environment names.
func installed() []string {
	var dirs []string
	for _, name := range []string{"GOROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "GEM_HOME"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(exe))
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

// describe is what hello says of the sandbox.
func (c *confinement) describe() map[string]any {
	if c.refusal != nil {
		return map[string]any{"level": c.level, "detail": c.refusal.Error()}
	}
	if c.session == nil {
		return map[string]any{"level": sandbox.None, "detail": "commands run as you, unconfined, because --sandbox none was asked for"}
	}
	d := map[string]any{"level": c.level, "landlock_abi": c.finding.LandlockABI}
	if why := c.finding.Why(); why != "" {
		d["detail"] = why
	}
	return d
}
