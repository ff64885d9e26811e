package scheduler

import (
	"path/filepath"
	"slices"

	"toolhost/agenttool"
)

// Conflict reports whether two locks exclude each other: one of them writes, and they are on the same path or one is
// on a path above the other's, by whole components. A path that is not absolute stands for all paths.
func Conflict(a, b agenttool.Lock) bool {
	a, b = normalLock(a), normalLock(b)
	return conflicting(a, b)
}

func conflicting(a, b agenttool.Lock) bool {
	return (a.Write || b.Write) && (agenttool.Within(a.Path, b.Path) || agenttool.Within(b.Path, a.Path))
}

func conflict(a, b []agenttool.Lock) bool {
	for _, x := range a {
		for _, y := range b {
			if conflicting(x, y) {
				return true
			}
		}
	}
	return false
}

// normalLocks returns a copy: the caller's slice may change while the locks are held.
func normalLocks(locks []agenttool.Lock) []agenttool.Lock {
	if len(locks) == 0 {
		return nil
	}
	normal := make([]agenttool.Lock, len(locks))
	for i, l := range locks {
		normal[i] = normalLock(l)
	}
	return normal
}

func normalLock(l agenttool.Lock) agenttool.Lock {
	if !filepath.IsAbs(l.Path) {
		l.Path = "/"
	}
	l.Path = filepath.Clean(l.Path)
	return l
}

// Locks returns the locks of a running call with the facts f.
//
// A call that is known to be concurrency-safe, and all of whose paths are known and located, reads its Reads and
// writes its Writes. Any other call may touch what it does not name: it writes the whole workspace, and every path
// that it does name, those that it says it only reads as well. Two such calls therefore never run together, whether
// they reach the network or not: OpenWorld adds no lock, since what is out there has no path. The locks that the facts
// ask for are added in both cases. Nil facts are unknown facts. The result is sorted and free of locks that another
// one of it covers on the same path.
//
// Agent Tool v0.2.0, "Per-call facts" (AT-190, AT-196, AT-211).
func Locks(f *agenttool.Facts, workspace string) []agenttool.Lock {
	var locks []agenttool.Lock
	add := func(path string, write bool) {
		locks = append(locks, normalLock(agenttool.Lock{Path: path, Write: write}))
	}
	if f == nil {
		f = &agenttool.Facts{}
	}
	certain := isCertain(f)
	if !certain {
		add(workspace, true)
	}
	for _, p := range f.Reads {
		add(location(p), !certain)
	}
	for _, p := range f.Writes {
		add(location(p), true)
	}
	for _, l := range f.Locks {
		add(l.Path, l.Write)
	}
	return compact(locks)
}

// isCertain reports whether the paths of f are all that the call touches, and it bears others beside it.
func isCertain(f *agenttool.Facts) bool {
	unlocated := func(p agenttool.Path) bool { return p.Resolved == "" }
	return f.ConcurrencySafe == agenttool.Yes && f.PathsComplete == agenttool.Yes &&
		!slices.ContainsFunc(f.Reads, unlocated) && !slices.ContainsFunc(f.Writes, unlocated)
}

func location(p agenttool.Path) string {
	if p.Resolved != "" {
		return p.Resolved
	}
	return p.Absolute
}

// compact sorts locks by path, the writing one first, and keeps the first of each path.
func compact(locks []agenttool.Lock) []agenttool.Lock {
	slices.SortFunc(locks, func(a, b agenttool.Lock) int {
		switch {
		case a.Path < b.Path || (a.Path == b.Path && a.Write && !b.Write):
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	return slices.CompactFunc(locks, func(a, b agenttool.Lock) bool { return a.Path == b.Path })
}
