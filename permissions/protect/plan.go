package protect

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// Bounds on the number of mounts of a sandbox. Secrets have a share of their own, so that many names of one kind in a repository
// cannot crowd out the other kind.
const (
	maxMounts      = 800
	maxSecretMount = 400
	maxReported    = 1000 // names that are looked at before and after a command
)

// finish turns what was found into the Map.
func (b *builder) finish() {
	if home := b.options.Home; home != "" && b.tree.root(home) != "" {
		b.watch[home] = true
	}
	secrets := outermostEntries(b.secrets)
	var sealed []Entry
	for _, entry := range b.sealed {
		if entry.Kind == Absent {
			b.m.Missing = append(b.m.Missing, entry)
		} else {
			sealed = append(sealed, entry)
		}
		b.m.names[fold(entry.Path)] = entry.Rule
	}
	sealed = outsideOf(outermostEntries(sealed), secrets)
	b.m.Missing = outermostEntries(b.m.Missing)
	b.m.Reported = outermostEntries(b.reported)
	if more := len(b.m.Reported) - maxReported; more > 0 {
		b.m.Reported = b.m.Reported[:maxReported]
		b.gap("", fmt.Sprintf("%d more names whose change would be reported are not watched", more))
	}
	slices.SortFunc(b.m.Git, func(x, y GitDir) int { return cmp.Compare(x.Path, y.Path) })
	b.m.Watch = slices.DeleteFunc(slices.Sorted(maps.Keys(b.watch)),
		func(dir string) bool { return b.tree.root(dir) == "" })
	b.limit(sealed, secrets)
	b.m.Pins = pins(b.m, concat2(b.m.Sealed, b.m.Secrets))
	if b.hidden > 0 {
		b.gap("", fmt.Sprintf("%d more directories were not looked into", b.hidden))
	}
	slices.SortFunc(b.m.Partial, func(x, y Gap) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Reason, y.Reason))
	})
	b.stamp()
}

// outermostEntries returns the entries sorted, each path once, without those that lie in another that is a directory.
func outermostEntries(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Rule, y.Rule))
	})
	entries = slices.CompactFunc(entries, func(x, y Entry) bool { return x.Path == y.Path })
	return outsideOf(entries, entries)
}

// outsideOf returns the entries that do not lie in a directory of others.
func outsideOf(entries, others []Entry) []Entry {
	dirs := make(map[string]bool)
	for _, other := range others {
		if other.Kind == Dir {
			dirs[other.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		for dir := path.Dir(e.Path); dir != "/"; dir = path.Dir(dir) {
			if dirs[dir] {
				return true
			}
		}
		return false
	})
}

// limit selects the entries to mount, and reports the others: first those that the session covered before, then the most dangerous
// ones. Secrets that the list names by their place take no mount from the others.
func (b *builder) limit(sealed, secrets []Entry) {
	rank := func(e Entry) int {
		root := b.tree.root(e.Path)
		switch dir := path.Dir(e.Path); {
		case root != "" && (b.git[dir] == root || dir == root && b.git[root] != ""):
			return 0
		case e.Rule == Secret && path.Base(e.Path) == ".env":
			return 1
		case e.Rule == VCSHooks || e.Rule == VCSConfig:
			return 1
		}
		return 2
	}
	byDanger := func(x, y Entry) int {
		return cmp.Or(
			cmp.Compare(b.held.first(x), b.held.first(y)), cmp.Compare(rank(x), rank(y)),
			cmp.Compare(strings.Count(x.Path, "/"), strings.Count(y.Path, "/")), byPath(x, y))
	}
	slices.SortFunc(secrets, byDanger)
	slices.SortFunc(sealed, byDanger)
	var listed, others []Entry
	for _, e := range secrets {
		if b.free(e) {
			listed = append(listed, e)
		} else {
			others = append(others, e)
		}
	}
	fitting, used := b.fitting(others, maxSecretMount)
	b.m.Secrets = append(listed, fitting...)
	b.m.Sealed, _ = b.fitting(sealed, maxMounts-used)
	slices.SortFunc(b.m.Secrets, byPath)
	slices.SortFunc(b.m.Sealed, byPath)
}

// fitting returns the first entries that need, with their pins, at most the given number of mounts.
func (b *builder) fitting(entries []Entry, most int) (kept []Entry, used int) {
	pinned := make(map[string]bool)
	left := 0
	for _, entry := range entries {
		cost := 1
		if entry.Kind == Symlink {
			cost = 0
		}
		fresh := make([]string, 0, 8)
		for _, dir := range pinsOf(b.m, entry) {
			if !pinned[dir] {
				fresh = append(fresh, dir)
			}
		}
		if used+cost+len(fresh) > most {
			if left++; left <= maxNamed {
				b.short(entry.Path, fmt.Sprintf("found, but not mounted over: it would take more than %d mounts", maxMounts))
			}
			continue
		}
		kept, used = append(kept, entry), used+cost+len(fresh)
		for _, dir := range fresh {
			pinned[dir] = true
		}
	}
	if left > maxNamed {
		b.short("", fmt.Sprintf("%d more entries were found, but not mounted over", left-maxNamed))
	}
	return kept, used
}

// pins returns the directories that must not be renamed, for the sake of the entries.
func pins(m *Map, entries []Entry) []string {
	set := make(map[string]bool)
	for _, entry := range entries {
		for _, dir := range pinsOf(m, entry) {
			set[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(dir string) bool {
		return slices.ContainsFunc(m.Sealed, func(e Entry) bool { return e.Kind == Dir && agenttool.Within(e.Path, dir) })
	})
}

// pinsOf returns the directories between the entry and its root.
func pinsOf(m *Map, entry Entry) []string {
	root := rootOf(m.Roots, entry.Path)
	if root == "" || !m.placed(entry) {
		return nil
	}
	var dirs []string
	for dir := path.Dir(entry.Path); dir != root && agenttool.Within(root, dir); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}
