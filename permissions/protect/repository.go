package protect

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// gitNames are the names in a git directory that git runs, or that configure what git runs.
var gitNames = []struct {
	name string
	rule Rule
}{
	{"hooks", VCSHooks},
	{"config", VCSConfig},
	{"config.worktree", VCSConfig},
	{"commondir", VCSConfig},
}

// gitInfo are names in a git directory that say what git shows, and which drivers it takes. They hold by their names alone: each of
// them in each repository would be a mount of each command.
var gitInfo = []string{"info/attributes", "info/exclude", "info/grafts"}

// GitHolds returns the rule for a path below a git directory that git runs or obeys, whatever the walk knows of that directory.
func GitHolds(dir, file string) (Rule, bool) {
	for _, n := range gitNames {
		if agenttool.Within(agenttool.Join(dir, n.name), file) {
			return n.rule, true
		}
	}
	return VCSConfig, slices.ContainsFunc(gitInfo, func(name string) bool { return agenttool.Join(dir, name) == file })
}

// GitSeals are the entries of a git directory that git runs or obeys.
func GitSeals(dir string) []string {
	var all []string
	for _, n := range gitNames {
		all = append(all, agenttool.Join(dir, n.name))
	}
	return all
}

// Bounds on how much of a repository is read.
const (
	maxPointer    = 4 << 10 // of a .git file or a commondir
	maxConfig     = 1 << 20 // of one configuration file
	maxConfigs    = 512     // configuration files
	maxInclusions = 10      // depth of includes, as in git
	maxHookDirs   = 4096    // places that core.hooksPath and the like may mean
)

// repository notes a git directory, and the top of its work tree where that is known.
func (b *builder) repository(dir, top string) {
	if known := b.git[dir]; known == "" {
		b.git[dir] = top
	}
}

// pointer reads a .git file, which names a git directory.
func (b *builder) pointer(file, top string) {
	if target, ok := b.target(file, "gitdir:"); ok {
		b.repository(target, top)
	}
}

// target returns the directory that the file names after the prefix, relative to where the file is.
func (b *builder) target(file, prefix string) (string, bool) {
	if b.tree.root(file) == "" && b.isFar(file) {
		return "", false
	}
	text, err := b.tree.read(file, maxPointer)
	if err != nil {
		return "", false
	}
	target, ok := strings.CutPrefix(string(text), prefix)
	target, _, _ = strings.Cut(strings.TrimSpace(target), "\n")
	if !ok || target == "" || strings.ContainsRune(target, 0) {
		return "", false
	}
	b.reads(file)
	if !path.IsAbs(target) {
		target = path.Dir(file) + "/" + target
	}
	if place, _ := b.through(target, VCSConfig); place != "" {
		return place, true
	}
	return path.Clean(target), true
}

// gitDirs seals what git obeys in every git directory, and in those that they name as their common one.
func (b *builder) gitDirs(ctx context.Context) {
	for pending := slices.Sorted(maps.Keys(b.git)); len(pending) > 0; pending = pending[1:] {
		dir := pending[0]
		b.m.Git = append(b.m.Git, GitDir{dir, b.git[dir]})
		for _, name := range gitInfo {
			b.m.names[fold(agenttool.Join(dir, name))] = VCSConfig
		}
		if ctx.Err() != nil {
			b.cut(dir, "a git directory that was not looked into: the pass took its "+b.options.MaxTime.String())
			for _, n := range gitNames {
				b.m.names[fold(agenttool.Join(dir, n.name))] = n.rule
			}
			continue
		}
		if b.isFar(dir) {
			continue
		}
		if common, ok := b.target(agenttool.Join(dir, "commondir"), ""); ok {
			if _, known := b.git[common]; !known {
				b.git[common] = ""
				pending = append(pending, common)
			}
		}
		b.linksIn(agenttool.Join(dir, "hooks"))
		for _, name := range gitInfo {
			b.sealLink(agenttool.Join(dir, name), VCSConfig)
		}
		if b.tree.root(dir) == "" {
			for _, n := range gitNames {
				b.sealLink(agenttool.Join(dir, n.name), n.rule)
			}
			continue
		}
		for _, n := range gitNames {
			kind := Absent
			if stat, err := b.tree.lstat(agenttool.Join(dir, n.name)); err == nil {
				kind = kindOf(&stat)
			}
			b.seal(agenttool.Join(dir, n.name), n.rule, kind)
		}
	}
}

// pointing seals the targets of symbolic links in git directories outside the roots.
func (b *builder) pointing() {
	for _, git := range b.options.Pointing {
		b.linksIn(agenttool.Join(git.Path, "hooks"))
		for _, name := range append(GitSeals(""), gitInfo...) {
			b.sealLink(path.Join(git.Path, name), VCSConfig)
		}
	}
}

// sealLink seals the target of a path that is a symbolic link.
func (b *builder) sealLink(file string, rule Rule) {
	if stat, err := b.lstat(file); err == nil && kindOf(&stat) == Symlink {
		b.sealAt(file, rule)
	}
}

// maxHooks bounds the links of one directory of hooks that are followed.
const maxHooks = 1024

// linksIn seals the targets of symbolic links in a directory of hooks, since git runs them. The directory may lie outside the roots.
func (b *builder) linksIn(dir string) {
	place, kind, _ := b.tree.follow(dir)
	if place == "" || kind != Dir || b.isFar(place) {
		return
	}
	names, more, err := b.names(place, maxHooks)
	if err != nil {
		return
	}
	if more {
		b.unknown(place, "not all hooks are looked at: there are too many")
	}
	b.reads(place)
	for _, c := range names {
		if c.kind == Symlink {
			b.sealAt(agenttool.Join(place, c.name), VCSHooks)
		}
	}
}

// names lists a directory, inside the roots or not, up to a number of names. more reports that there are others.
func (b *builder) names(dir string, most int) (found []child, more bool, err error) {
	fd := -1
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if b.tree.root(dir) != "" {
		fd, err = b.tree.open(dir, flags)
	} else {
		fd, err = unix.Open(dir, flags, 0)
	}
	if b.tree.noted(err) != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	err = list(fd, make([]byte, 8192), func(name []byte, kind Kind) bool {
		if more = len(found) == most; more {
			return false
		}
		found = append(found, child{name: string(name), kind: kind})
		return true
	})
	for i := range found {
		var stat unix.Stat_t
		if found[i].kind == Absent && statAt(fd, found[i].name, &stat) == nil { // the file system does not tell
			found[i].kind = kindOf(&stat)
		}
	}
	return found, more, err
}

// lstat is the state of a path, inside the roots or not.
func (b *builder) lstat(file string) (stat unix.Stat_t, err error) {
	if b.tree.root(file) != "" {
		return b.tree.lstat(file)
	}
	if b.isFar(file) {
		return stat, unix.EXDEV
	}
	err = unix.Lstat(file, &stat)
	return stat, err
}

// reads notes a file or directory whose content the Map depends on.
func (b *builder) reads(file string) { b.sources[file] = true }

// config is a git configuration file to read.
type config struct {
	path  string
	depth int // of inclusion
}

// gitConfigs reads the configuration of git and seals what it includes and where it finds hooks.
func (b *builder) gitConfigs() {
	var pending []config
	queued := make(map[string]bool)
	queue := func(file string, depth int) bool {
		if queued[file] {
			return false
		}
		if len(queued) >= maxConfigs {
			b.unknown(file, "not read: there are too many git configuration files")
			return false
		}
		queued[file] = true
		pending = append(pending, config{file, depth})
		return true
	}
	for _, file := range b.options.GitConfigs {
		queue(file, 0)
	}
	for _, git := range slices.Concat(b.m.Git, b.options.Pointing) {
		queue(agenttool.Join(git.Path, "config"), 0)
		queue(agenttool.Join(git.Path, "config.worktree"), 0)
	}
	named := make(map[pointed]bool)
	for ; len(pending) > 0; pending = pending[1:] {
		found := b.readConfig(pending[0])
		for _, value := range found.hooks {
			named[pointed{value, VCSHooks, true}] = true
		}
		for _, value := range found.obeyed {
			named[pointed{value, VCSConfig, true}] = true
		}
		for _, command := range found.programs {
			for _, word := range pathsIn(command) {
				named[pointed{word, VCSHooks, false}] = true
			}
		}
		for _, value := range found.worktrees {
			if top := GitPath(value, path.Dir(pending[0].path), b.options.Home); top != "" {
				b.tops[path.Clean(top)] = true
			}
		}
		for _, value := range found.includes {
			file := GitPath(value, path.Dir(pending[0].path), b.options.Home)
			if file != "" && queue(file, pending[0].depth+1) {
				b.sealAt(file, VCSConfig)
			}
		}
	}
	b.pointedTo(slices.SortedFunc(maps.Keys(named), func(x, y pointed) int {
		return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.rule, y.rule))
	}))
}

// readConfig reads one configuration file as far as it names other places.
func (b *builder) readConfig(c config) gitPaths {
	if c.depth > maxInclusions || b.tree.root(c.path) == "" && b.isFar(c.path) {
		return gitPaths{}
	}
	place, _, _ := b.tree.resolve(c.path)
	if place == "" {
		place = c.path
	}
	text, err := b.tree.read(place, maxConfig)
	if err != nil {
		return gitPaths{}
	}
	b.reads(place)
	if len(text) == maxConfig {
		b.unknown(c.path, "not read further: a git configuration file of this size")
	}
	return parseGitPaths(string(text))
}

// pointed is a path that configuration names, as it is spelled there.
type pointed struct {
	value string
	rule  Rule
	alone bool // it is the whole value; else a word of a command, where what is no path and no file means a program of the system
}

// pointedTo seals what configuration names. A relative path is relative to where git runs the program: the top of the work tree, or the git
// directory itself.
func (b *builder) pointedTo(all []pointed) {
	left := maxHookDirs
	for _, p := range all {
		seats := []string{"/"}
		if !path.IsAbs(p.value) && !strings.HasPrefix(p.value, "~") {
			seats = b.hookSeats()
		}
		for _, seat := range seats {
			if left--; left < 0 {
				b.unknown(p.value, "not sealed everywhere: the configuration of git means too many places")
				return
			}
			file := GitPath(p.value, seat, b.options.Home)
			if file == "" || !p.alone && !b.mayRun(file, p.value) {
				continue
			}
			if !p.alone || p.rule != VCSHooks {
				b.sealAt(file, p.rule)
				continue
			}
			if place, _, _ := b.tree.resolve(file); place != "" && b.tooWide(place) {
				for name := range wordsOf(hooksList) {
					b.sealAt(file+"/"+name, VCSHooks)
				}
				continue
			}
			b.sealAt(file, VCSHooks)
			b.linksIn(file)
		}
	}
}

// mayRun reports whether a word of a command that git runs is a program or script at a place: a file is there, or the word is spelled as a
// path and nothing is there yet.
func (b *builder) mayRun(file, word string) bool {
	place, kind, _ := b.tree.resolve(file)
	return place != "" && (kind == File || kind == Absent && strings.Contains(word, "/"))
}

func (b *builder) hookSeats() []string {
	seats := slices.Collect(maps.Keys(b.tops))
	for _, git := range slices.Concat(b.m.Git, b.options.Pointing) {
		seats = append(seats, git.Path)
		if git.Top != "" {
			seats = append(seats, git.Top)
		}
	}
	slices.Sort(seats)
	return slices.Compact(seats)
}

// recall checks again every entry covered earlier, even if the walk did not reach it.
func (b *builder) recall() {
	for dir, top := range b.held.git {
		if b.tree.root(dir) == "" {
			continue
		}
		if stat, err := b.tree.lstat(dir); !errors.Is(err, unix.EACCES) && (err != nil || kindOf(&stat) != Dir) {
			continue
		}
		b.repository(dir, top)
		if top != "" {
			b.watch[top] = true
		}
	}
	for _, e := range b.held.kept {
		if b.tree.root(e.Path) == "" {
			continue
		}
		stat, err := b.tree.lstat(e.Path)
		if err != nil && !errors.Is(err, unix.EACCES) {
			continue
		}
		kind := kindOf(&stat)
		if err != nil { // it is there, and cannot be looked at now
			kind = e.Kind
		}
		switch d := b.m.deny.denied(fold(e.Path), fold(b.tree.root(e.Path))); {
		case e.Rule == Secret && d.denied && kind == Symlink:
			b.maskTarget(e.Path)
		case e.Rule == Secret && d.denied && d.content != 0 && !d.content.at(e.Path):
		case e.Rule == Secret && d.denied:
			b.mask(e.Path, &stat)
		case e.Rule != Secret && e.Rule != Denied && !slices.ContainsFunc(b.m.inner, within(e.Path)):
			b.seal(e.Path, e.Rule, kind)
		}
	}
}
