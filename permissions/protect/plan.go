package protect

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"toolhost/agenttool"
)

// Bounds on the number of mounts of a sandbox. Secrets have a share of their own, so that many names of one kind in a repository
// cannot crowd out the other kind.
const (
	maxMounts      = 800
	maxSecretMount = 400
	maxReported    = 1000 // names that are looked at before and after a command
)

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
