package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/mcpconfig"
)

// Places are where the files of clients are.
type Places struct {
	Project string // absolute
	Home    string
	Config  string // where programs keep their configuration
	State   string // where toolhost keeps records
	Getenv  func(string) string
}

// Here are the places of this process, with a project.
func Here(project string) (Places, error) {
	abs, err := filepath.Abs(project)
	if err != nil {
		return Places{}, err
	}
	if !dirs.Is(abs) {
		return Places{}, fmt.Errorf("%s is no directory: give the project with --workspace", abs)
	}
	state, err := dirs.State()
	if err != nil {
		return Places{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return Places{}, err
	}
	return Places{Project: dirs.Real(abs), Home: dirs.Real(home), Config: dirs.ConfigHome(), State: state, Getenv: os.Getenv}, nil
}

// expand is the path of a name in the table of clients.
func (p Places) expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(p.Home, rest)
	}
	if rest, ok := strings.CutPrefix(name, "CONFIG/"); ok {
		return filepath.Join(p.Config, rest)
	}
	return filepath.Join(p.Project, name)
}

// path is the one of a file's names that is there, or else the first, without links.
func (p Places) path(f mcpconfig.File) (string, error) {
	names := make([]string, len(f.Names))
	for i, name := range f.Names {
		names[i] = p.expand(name)
		if dir := p.Getenv(f.Env); f.Env != "" && dir != "" {
			names[i] = filepath.Join(dir, filepath.Base(name))
		}
	}
	path := names[0]
	for _, name := range names {
		if _, err := os.Lstat(name); err == nil {
			path = name
			break
		}
	}
	real := dirs.Target(path)
	if f.Scope == mcpconfig.Project && !agenttool.Within(p.Project, real) {
		return "", fmt.Errorf("%s is a link that leads out of the project: remove it", path)
	}
	return real, nil
}

// Short is a path as a person writes it: relative to the project, or with ~.
func (p Places) Short(path string) string {
	if agenttool.Within(p.Project, path) && path != p.Project && p.Project != p.Home {
		return strings.TrimPrefix(path, p.Project+"/")
	}
	if p.Home != "/" && agenttool.Within(p.Home, path) {
		return "~" + strings.TrimPrefix(path, p.Home)
	}
	return path
}

// Installed reports whether a client seems to be on this machine.
func (p Places) Installed(c mcpconfig.Client) bool {
	if c.Program != "" {
		if _, err := exec.LookPath(c.Program); err == nil {
			return true
		}
	}
	made := p.made(c)
	return slices.ContainsFunc(c.Signs, func(sign string) bool {
		dir := p.expand(sign)
		return dirs.Is(dir) && !slices.Contains(made, dirs.Real(dir))
	})
}

// Program is how a configuration names this program: by its name where others get the file and PATH finds it, and else by its path.
func Program(s mcpconfig.Scope) (name string, portable bool, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", false, fmt.Errorf("this program cannot say where it is: %w", err)
	}
	if s != mcpconfig.Project {
		return path, true, nil
	}
	found, err := exec.LookPath("toolhost")
	if err != nil {
		return path, false, nil
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(path)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return "toolhost", true, nil
	}
	return path, false, nil
}
