package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolhost/agenttool"
	"toolhost/protect"
	"toolhost/sandbox"
	"toolhost/tools/workspace"
)

// confinement is the sandbox of a session: what it holds, and what hello and doctor say of it.
type confinement struct {
	session *sandbox.Session // nil: commands run as the person does
	finding sandbox.Finding
	level   sandbox.Level
}

// confine makes the sandbox of a session. required is the level below which nothing runs; none asks for no sandbox.
func confine(required string, w *workspace.Workspace, scope agenttool.Scope, name string) (*confinement, error) {
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
		return nil, fmt.Errorf("--sandbox %s: this machine holds %s (%s): see toolhost doctor, or run commands unconfined with --sandbox none",
			least, c.level, c.finding.Why())
	}
	o, err := sandboxOptions(scope, state, name)
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
func sandboxOptions(scope agenttool.Scope, state, name string) (sandbox.Options, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		config = filepath.Join(scope.Home, ".config")
	}
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	o := sandbox.Options{
		Roots: scope.Roots, Home: scope.Home, Runtime: runtime,
		Dir:      filepath.Join(state, "scratch", name),
		Cache:    filepath.Join(state, "caches", digest(scope.Dir)),
		Hidden:   []string{state, filepath.Join(config, "toolhost")},
		ReadDeny: protect.DefaultReadDeny(),
		Show:     append(filepath.SplitList(os.Getenv("PATH")), installed()...),
	}
	o.GoModCache, o.GoProxy = goSettings(scope.Home)
	return o, nil
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
	if c.session == nil {
		return map[string]any{"level": sandbox.None, "detail": "commands run as you, unconfined, because --sandbox none was asked for"}
	}
	d := map[string]any{"level": c.level, "landlock_abi": c.finding.LandlockABI}
	if why := c.finding.Why(); why != "" {
		d["detail"] = why
	}
	return d
}
