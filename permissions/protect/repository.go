package protect

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

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
	maxHookDirs   = 1024    // directories that core.hooksPath may mean
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
		if b.tree.root(dir) == "" {
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
			b.short(file, "not read: there are too many git configuration files")
			return false
		}
		queued[file] = true
		pending = append(pending, config{file, depth})
		return true
	}
	for _, file := range b.options.GitConfigs {
		queue(file, 0)
	}
	for _, git := range b.m.Git {
		queue(agenttool.Join(git.Path, "config"), 0)
		queue(agenttool.Join(git.Path, "config.worktree"), 0)
	}
	hooks := make(map[string]bool)
	for ; len(pending) > 0; pending = pending[1:] {
		found := b.readConfig(pending[0])
		for _, value := range found.hooks {
			hooks[value] = true
		}
		for _, value := range found.includes {
			file := GitPath(value, path.Dir(pending[0].path), b.options.Home)
			if file != "" && queue(file, pending[0].depth+1) {
				b.sealAt(file, VCSConfig)
			}
		}
	}
	b.hookDirs(slices.Sorted(maps.Keys(hooks)))
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
	if len(text) == maxConfig {
		b.gap(c.path, "not read further: a git configuration file of this size")
	}
	return parseGitPaths(string(text))
}

// hookDirs seals the directories that the values of core.hooksPath mean. A relative one is relative to where git runs
// the hook: the top of the work tree, or the git directory itself.
func (b *builder) hookDirs(values []string) {
	left := maxHookDirs
	for _, value := range values {
		seats := []string{"/"}
		if !path.IsAbs(value) && !strings.HasPrefix(value, "~") {
			seats = b.hookSeats()
		}
		for _, seat := range seats {
			if left--; left < 0 {
				b.short(value, "not sealed everywhere: core.hooksPath means too many directories")
				return
			}
			if dir := GitPath(value, seat, b.options.Home); dir != "" {
				b.sealAt(dir, VCSHooks)
			}
		}
	}
}

func (b *builder) hookSeats() []string {
	var seats []string
	for _, git := range b.m.Git {
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
		if stat, err := b.tree.lstat(dir); err != nil || kindOf(&stat) != Dir {
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
		if err != nil {
			continue
		}
		kind := kindOf(&stat)
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
