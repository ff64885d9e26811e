package protect

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// builder collects the parts of a Map.
type builder struct {
	tree    *tree
	options Options
	far     []string // where file systems of other machines are mounted
	m       *Map

	git    map[string]string // git directories and their tops
	watch  map[string]bool
	linked map[identity]Rule // files with several names, at least one of them protected
	tops   map[string]bool   // of work trees, that configuration names

	sources map[string]bool // files and directories whose content the Map depends on
	held    *coverHistory   // of the session
	protectedEntries
	budget
}

// protectedEntries are in no order, and some are there twice.
type protectedEntries struct {
	sealed   []Entry
	reported []Entry
	secrets  []Entry
	links    []Entry // of the sealed ones, those to follow
}

// budget bounds the work of a builder.
type budget struct {
	inside int // left for protected directories
	hidden int // gaps of directories beyond those that are named

	hiddenBound bool // one of them is due to a bound
}

// missed reports a directory that the walk could not read: its names are unknown.
func (b *builder) missed(dir, reason string) { b.notLookedInto(Gap{Path: dir, Reason: reason}) }

// cut is missed for a directory that a bound kept the walk from.
func (b *builder) cut(dir, reason string) {
	b.notLookedInto(Gap{Path: dir, Reason: reason, Bound: true})
}

func (b *builder) notLookedInto(gap Gap) {
	b.m.blind, gap.Blind = true, true
	if len(b.m.Partial) >= maxNamed {
		b.hidden++
		b.hiddenBound = b.hiddenBound || gap.Bound
		return
	}
	b.add(gap)
}

// gap reports something else that is not covered.
func (b *builder) gap(where, reason string) { b.add(Gap{Path: where, Reason: reason}) }

// short is gap for a place left uncovered because of a bound, whose names are known.
func (b *builder) short(where, reason string) { b.add(Gap{Path: where, Reason: reason, Bound: true}) }

// unknown is gap for names that were not looked for because of a bound.
func (b *builder) unknown(where, reason string) {
	b.add(Gap{Path: where, Reason: reason, Bound: true, Blind: true})
}

// add adds a gap. Their number is bounded, the last one says that there are more.
func (b *builder) add(gap Gap) {
	gap.Path = gap.Path[:min(len(gap.Path), unix.PathMax)]
	if len(b.m.Partial) >= maxGaps {
		gap = Gap{Reason: "there is more that is not covered", Bound: true, Blind: true}
	}
	if !slices.Contains(b.m.Partial, gap) {
		b.m.Partial = append(b.m.Partial, gap)
	}
}

// except makes one folded path an exception from the secrets, and reports whether it could.
func (b *builder) except(folded string) bool {
	if b.m.deny == b.held.deny {
		b.m.deny = b.held.deny.copied()
	}
	return b.m.deny.except(folded)
}

// finish makes the Map from the collected entries.
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
		b.add(Gap{Reason: fmt.Sprintf("%d more directories were not looked into", b.hidden), Bound: b.hiddenBound, Blind: true})
	}
	slices.SortFunc(b.m.Partial, func(x, y Gap) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Reason, y.Reason))
	})
	b.stamp()
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

// stamp notes the states that the Map depends on.
func (b *builder) stamp() {
	for _, file := range slices.Sorted(maps.Keys(b.sources)) {
		if len(b.m.stamps) < maxStamps/2 {
			b.m.stamps = append(b.m.stamps, b.tree.stampOf(file, true))
		}
	}
	for _, dir := range b.m.Watch[:min(len(b.m.Watch), maxStamps/4)] {
		b.m.stamps = append(b.m.stamps, b.tree.stampOf(dir, true))
	}
	for _, entry := range slices.Concat(b.m.Sealed, b.m.Secrets, b.m.Missing) {
		if len(b.m.stamps) < maxStamps && b.tree.root(entry.Path) != "" {
			b.m.stamps = append(b.m.stamps, b.tree.stampOf(entry.Path, false))
		}
	}
	for _, file := range b.m.looked {
		if len(b.m.stamps) < maxStamps {
			b.m.stamps = append(b.m.stamps, b.tree.stampOf(file, true))
		}
	}
}

// inHome reports whether a path lies in the user's home directory. Every secret there is also known under its other names.
func (b *builder) inHome(file string) bool {
	home := b.options.Home
	return home != "" && home != "/" && agenttool.Within(home, file)
}

// free reports whether a mask counts for no budget: the list names its place, so there is one at most for each of its lines.
func (b *builder) free(entry Entry) bool {
	return slices.ContainsFunc(b.m.deny.plainAt[fold(entry.Path)], func(i int) bool { return !b.m.deny.rules[i].allow })
}

// isFar reports whether a lookup of the path may wait for another machine, unless a root lies on the same mount: work there waits
// anyway.
func (b *builder) isFar(file string) bool {
	file = path.Clean(file)
	for _, mount := range b.far {
		if agenttool.Within(mount, file) && !slices.ContainsFunc(b.tree.roots, within(mount)) {
			return true
		}
	}
	return false
}
