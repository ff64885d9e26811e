package tree

import (
	"sort"
	"strings"

	"toolhost/tools/search/ignore"
)

// Below returns the part of the list below one of its directories, named by its path with a trailing slash. Paths in
// it stay relative to the root of the list. ok is false if the directory is not in the list.
func (l *List) Below(dir string) (part *List, ok bool) {
	first := sort.Search(len(l.Dirs), func(i int) bool { return l.Dirs[i].Path >= dir })
	if first == len(l.Dirs) || l.Dirs[first].Path != dir {
		return nil, false
	}
	end := first + sort.Search(len(l.Dirs)-first, func(i int) bool { return !strings.HasPrefix(l.Dirs[first+i].Path, dir) })
	from := sort.Search(len(l.Files), func(i int) bool { return l.Files[i].compare(dir) >= 0 })
	to := from + sort.Search(len(l.Files)-from, func(i int) bool { return !strings.HasPrefix(l.Files[from+i].Dir.Path, dir) })
	part = &List{Files: l.Files[from:to:to], Dirs: l.Dirs[first:end:end], Partial: l.Partial}
	part.tally(l.Dirs[first])
	return part, true
}

// tally adds the counts of omitted names in d and below it, as last listed. A refresh may run at the same time.
func (l *List) tally(d *Dir) {
	now := d.listing.Load()
	if now == nil {
		return
	}
	l.count(now)
	for _, sub := range now.dirs {
		l.tally(sub)
	}
}

// compare compares the path of f with another path.
func (f *File) compare(path string) int {
	n := min(len(f.Dir.Path), len(path))
	if c := strings.Compare(f.Dir.Path[:n], path[:n]); c != 0 || n == len(path) {
		return c
	}
	return strings.Compare(f.Name, path[n:])
}

// Is reports whether d, when last checked, was the directory with that device and inode.
func (t *Tree) Is(d *Dir, dev, ino uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return d.status.dev == dev && d.status.ino == ino
}

// Files returns the files in the directory as last listed, in the order of their names.
func (d *Dir) Files() []*File {
	if l := d.listing.Load(); l != nil {
		return l.files
	}
	return nil
}

// HasOtherRules reports whether a search that begins in d applies other rules than this list: a repository begins in d or
// between the search root and d, a rule ignores d, or d ignores all that it holds.
func (t *Tree) HasOtherRules(d *Dir) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.ignored || d != t.root && d.sources != nil && ignore.Everything(d.sources.git) {
		return true
	}
	for ; d != t.root; d = d.parent {
		if d.sources.begins() {
			return true
		}
	}
	return false
}
