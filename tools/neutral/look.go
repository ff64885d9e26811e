package neutral

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolhost/tools/gitindex"
)

// Place is a place where git runs.
type Place struct {
	Dir    string // absolute, without links
	GitDir string // argument of --git-dir, absolute; "": git searches for the repository
	Verb   string // the subcommand; "ls-remote" for all that use the network
}

// Host describes git's environment outside the repository.
type Host struct {
	Home      string // the home directory; "": none
	Config    string // where XDG_CONFIG_HOME points; "": .config in Home
	Cat, Diff string // programs that replace configured ones; "": not available

	// Real resolves the links of a path as the command sees it, in its own mount namespace; nil: as the host sees it.
	// For a missing path it may return where the path would be.
	Real func(path string) (string, error)
}

func (h Host) real(path string) (string, error) {
	if h.Real != nil {
		return h.Real(path)
	}
	return filepath.EvalSymlinks(path)
}

// Finding describes the programs and the files elsewhere that git would use in a place.
type Finding struct {
	Settings []Setting // keep git from running configured programs; see [Environ]
	Obstacle string    // a sentence that tells why Settings do not suffice; "" if they do
	Programs []string  // keys where the repository itself, not the user, names programs that a reading command may run
	Reads    []string  // directories and files elsewhere that git reads because the repository names them; absolute
	Top      string    // top of the work tree; "" if there is none
}

const (
	maxFiles   = 64 // configuration files
	maxDepth   = 10 // depth of includes, as in git
	maxModules = 256
)

// Look examines git's configuration for a place. It reads the disk and runs nothing.
func Look(p Place, h Host) Finding {
	l := &look{host: h, verb: p.Verb, seen: map[string]bool{}, asked: map[string]bool{}}
	l.persons()
	l.repositories(p)
	found := Finding{Programs: l.programs, Reads: l.reads, Top: l.top, Obstacle: l.obstacle}
	if found.Settings = append(slices.Clip(l.settings), fixed()...); l.obstacle == "" && l.size > maxSize {
		found.Obstacle = "the configuration of git names too many drivers and filters"
	}
	return found
}

// look is the state of one Look.
type look struct {
	host     Host
	verb     string
	level    level
	seen     map[string]bool // files read
	asked    map[string]bool // keys that have a setting
	settings []Setting
	size     int
	modules  int

	hash     int    // bytes of an object name
	worktree string // the value of core.worktree, or ""
	top      string
	programs []string
	reads    []string
	obstacle string
}

// level is the origin of a configuration.
type level uint8

const (
	person     level = iota // the user or the machine's administrator
	repo                    // the repository where git runs
	submodules              // one of its submodules
)

func (l *look) stop(format string, args ...any) {
	if l.obstacle == "" {
		l.obstacle = fmt.Sprintf(format, args...)
	}
}

// persons reads the configuration of the machine and of the user.
func (l *look) persons() {
	files := []string{"/etc/gitconfig"}
	if home := l.host.Home; home != "" {
		config := l.host.Config
		config = cmp.Or(config, filepath.Join(home, ".config"))
		files = append(files, filepath.Join(config, "git/config"), filepath.Join(home, ".gitconfig"))
	}
	for _, file := range files {
		l.file(file, 0)
	}
}

// repositories reads the configuration of every repository that git may use.
func (l *look) repositories(p Place) {
	if p.GitDir != "" {
		dir := p.GitDir
		if real, err := l.host.real(dir); err == nil {
			dir = real
		}
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			dir = l.pointed(dir, "gitdir: ")
		}
		if dir != "" {
			l.repository(l.at(dir, p.Dir), repo, 0)
		}
		return
	}
	found, bare := l.discovered(p.Dir)
	if bare != "" {
		l.stop("%s is a bare repository, which may be made of files that came with something else: git --git-dir names it", bare)
	}
	for i, r := range found {
		l.repository(r, repo, 0)
		if i == 0 {
			l.place(r)
		}
	}
}

// place records directories of a repository that lie elsewhere.
func (l *look) place(r repository) {
	l.top = r.top
	if l.worktree != "" {
		l.top = l.worktree
		l.reads = append(l.reads, l.worktree)
	}
	if !l.acknowledges(r) {
		l.reads = append(l.reads, r.gitDir, r.common)
	}
	objects := filepath.Join(r.common, "objects")
	if real, err := l.host.real(objects); err == nil && real != objects {
		l.reads = append(l.reads, real)
	}
	if text, err := readRegular(filepath.Join(objects, "info/alternates")); err == nil {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				l.reads = append(l.reads, l.absolute(line, objects))
			}
		}
	}
	for i, read := range l.reads {
		l.reads[i] = l.absolute(read, l.top)
	}
	if l.verb == "bisect" {
		l.reads = append(l.reads, filepath.Join(r.gitDir, "BISECT_LOG"))
	}
}

// repository reads the configuration of a repository, and of its submodules if git may run in them.
func (l *look) repository(r repository, by level, depth int) {
	outer := l.level
	defer func() { l.level = outer }()
	l.level, l.hash, l.worktree = by, gitindex.SHA1, ""
	l.file(filepath.Join(r.common, "config"), 0)
	l.file(filepath.Join(r.gitDir, "config"), 0)
	l.file(filepath.Join(r.gitDir, "config.worktree"), 0)
	if l.worktree != "" {
		l.worktree = l.absolute(l.worktree, r.gitDir)
	}
	if historical[l.verb] || r.top == "" {
		return
	}
	links, err := gitlinks(r.gitDir, l.hash)
	if err != nil {
		l.stop("%s: the submodules of the repository are unknown: %v", r.gitDir, err)
		return
	}
	top, worktree := r.top, l.worktree
	if worktree != "" {
		top = worktree
	}
	for _, link := range links {
		if l.modules++; l.modules > maxModules || depth > maxDepth {
			l.stop("%s has too many submodules", top)
			return
		}
		if sub, ok := l.dotGit(filepath.Join(top, link)); ok {
			l.repository(sub, submodules, depth+1)
		}
	}
	l.worktree = worktree
}

// historical lists subcommands that use only history, references and configuration: git does not run in submodules
// for them.
var historical = map[string]bool{
	"log": true, "show": true, "branch": true, "tag": true, "remote": true, "config": true, "rev-parse": true, "rev-list": true,
	"ls-tree": true, "cat-file": true, "merge-base": true, "for-each-ref": true, "reflog": true, "show-ref": true, "shortlog": true,
	"name-rev": true, "symbolic-ref": true, "count-objects": true, "check-ref-format": true, "help": true, "ls-remote": true,
}

// file reads a configuration file and its includes.
func (l *look) file(name string, depth int) {
	real, err := l.host.real(name)
	switch {
	case missing(err):
		return
	case err != nil:
		l.stop("%s, a configuration of git, cannot be read: %v", name, err)
		return
	case l.seen[real]:
		return
	case len(l.seen) >= maxFiles+maxModules || depth > maxDepth:
		l.stop("%s: the configuration of git has too many files", name)
		return
	}
	l.seen[real] = true
	text, err := readRegular(real)
	if missing(err) {
		return
	}
	if err != nil {
		l.stop("%s, a configuration of git, cannot be read: %v", name, err)
		return
	}
	entries, err := parseConfig(text)
	if err != nil {
		l.stop("%s, a configuration of git, %v", name, err)
		return
	}
	for _, e := range entries {
		l.entry(e, name, depth)
	}
}

func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// absolute resolves a path from a file in dir.
func (l *look) absolute(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = dir + "/" + path
	}
	if real, err := l.host.real(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// set adds a setting.
func (l *look) set(key, value string) {
	if l.asked[key] {
		return
	}
	l.asked[key] = true
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == '=' || r == '\'' || r == 0x7f }) {
		l.stop("%q in the configuration of git names a program, and cannot be overridden", key)
		return
	}
	l.size += len(key) + len(value)
	l.settings = append(l.settings, Setting{key, value})
}

// instead replaces the program of a key by a plain one.
func (l *look) instead(key, value, program string) {
	if program == "" || strings.ContainsFunc(program, strange) {
		l.stop("%s in the configuration of git names a program, and no replacement was found", key)
		return
	}
	l.set(key, value)
}
