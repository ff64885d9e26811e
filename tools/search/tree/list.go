package tree

import (
	"slices"
	"strings"
	"sync/atomic"

	"toolhost/tools/search/ignore"
)

// Kind is what a name that is no directory stands for.
type Kind uint8

const (
	Regular Kind = iota
	Link         // a symbolic link, whatever it points to
	Special      // a FIFO, socket or device

	directory // only between reading a directory and listing it
)

// File is a name below the search root that is no directory. It stays the same pointer as long as its name stands
// for the same inode number and kind; only Sure and Known change.
type File struct {
	Dir   *Dir
	Name  string
	ino   uint64
	Known atomic.Pointer[Known] // what a search learned of the content; nil: nothing
	Sure  atomic.Bool           // for who uses Known: it needs no comparison with the file's status
	Kind  Kind
}

// Path returns the path below the search root.
func (f *File) Path() string { return f.Dir.Path + f.Name }

// List is what is below the search root at one time. It is immutable.
type List struct {
	Files []*File // in path order
	Dirs  []*Dir  // that could be listed, in path order, the search root first

	Ignored    int  // names left out by ignore rules, a directory counting once
	Hidden     int  // names left out for their dot
	Unreadable int  // directories that could not be read, or not to their end
	Partial    bool // there may be more: the time or the limit of names was used up
}

// Dir is a directory below the search root, or the root itself. It stays the same pointer as long as its path
// stands for the same inode number.
type Dir struct {
	Path string // below the search root with a slash at its end; "" for the root

	parent  *Dir
	ino     uint64 // as the parent's listing has it
	listing atomic.Pointer[listing]
	gone    atomic.Bool
	state
}

// state is what only a running refresh looks at.
type state struct {
	status  status
	sources *sources      // the ignore files that begin here; nil for none
	cost    int64         // what the listing takes of the limit
	round   uint32        // the last refresh that had to come through here
	dirty   bool          // to be listed again
	deep    bool          // everything below is to be classified anew
	suspect bool          // the status says nothing about changes: to be listed again next time
	rules   *ignore.Rules // that hold in it
}

// listing is what one directory holds. It is immutable.
type listing struct {
	files      []*File // in the order of names
	dirs       []*Dir  // in path order
	before     []int32 // for each of dirs, how many of files come before it in path order
	ignored    int
	hidden     int
	unreadable int  // directories in it with too long a path
	lost       bool // it could not be read, or not to its end
}

// File returns the file of that name in the directory as last listed; nil when there is none.
func (d *Dir) File(name string) *File {
	l := d.listing.Load()
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.files, name, func(f *File, name string) int {
		return strings.Compare(f.Name, name)
	})
	if !ok {
		return nil
	}
	return l.files[i]
}

// Gone reports whether the directory was found to be no longer there, or to be left out now. It never comes back:
// the same path has another Dir then.
func (d *Dir) Gone() bool { return d.gone.Load() }

// place returns the directory's path for the system.
func (d *Dir) place() string {
	if d.Path == "" {
		return "."
	}
	return d.Path[:len(d.Path)-1]
}

// vanish marks d and everything below it as gone, and returns what it cost.
func (d *Dir) vanish() (cost int64) {
	d.gone.Store(true)
	cost, d.cost = d.cost, 0
	if l := d.listing.Load(); l != nil {
		for _, c := range l.dirs {
			cost += c.vanish()
		}
	}
	return cost
}

// same reports whether two listings hold the same.
func (l *listing) same(o *listing) bool {
	return o != nil && l.ignored == o.ignored && l.hidden == o.hidden && l.lost == o.lost && l.unreadable == o.unreadable &&
		slices.Equal(l.files, o.files) && slices.Equal(l.dirs, o.dirs) && slices.Equal(l.before, o.before)
}

// vanish marks what was in l and is not in now as gone, and returns what it cost.
func (l *listing) vanish(now *listing) (cost int64) {
	dirs := now.dirs
	for _, d := range l.dirs {
		for len(dirs) > 0 && dirs[0].Path < d.Path {
			dirs = dirs[1:]
		}
		if len(dirs) == 0 || dirs[0] != d {
			cost += d.vanish()
		}
	}
	return cost
}
