package tree

import (
	"slices"
	"strings"
	"sync/atomic"

	"toolhost/tools/search/ignore"
)

// Kind is the kind of a name that is not a directory.
type Kind uint8

const (
	Regular Kind = iota
	Link         // a symbolic link to any target
	Special      // a FIFO, socket or device

	directory // only between reading a directory and listing it
)

// File is a name below the search root that is not a directory. The pointer stays the same while the name has the
// same inode number and kind; only Sure and Known change.
type File struct {
	Dir   *Dir
	Name  string
	ino   uint64
	Known atomic.Pointer[FileFacts] // cached knowledge of the content; nil: none
	Sure  atomic.Bool               // Known is valid without a check of the file's status; set by the users of Known
	Kind  Kind
}

// Path returns the path below the search root.
func (f *File) Path() string { return f.Dir.Path + f.Name }

// List is the content of the tree at one time. It is immutable.
type List struct {
	Files []*File // in path order
	Dirs  []*Dir  // the directories that could be listed, in path order, the search root first

	Ignored    int  // names omitted by ignore rules; a directory counts once
	Hidden     int  // names omitted because of their dot
	Unreadable int  // directories that could not be read, or not to their end
	Partial    bool // the list may be incomplete: the time or the limit of names was reached
}

// Dir is the search root or a directory below it. The pointer stays the same while the path has the same inode
// number.
type Dir struct {
	Path string // below the search root with a slash at its end; "" for the root

	parent  *Dir
	ino     uint64 // as the parent's listing has it
	listing atomic.Pointer[listing]
	gone    atomic.Bool
	state
}

// state holds the fields that only a running refresh uses.
type state struct {
	status  status
	sources *sources      // the ignore files that begin here; nil for none
	cost    int64         // cost of the listing against the limit
	round   uint32        // the last refresh that had to visit it
	dirty   bool          // must be listed again
	deep    bool          // everything below must be classified again
	suspect bool          // the status may miss changes: list it again next time
	rules   *ignore.Rules // the rules that apply in it
	ignored bool          // a rule omits everything in it but the files that git tracks
}

// listing is the content of one directory. It is immutable.
type listing struct {
	files      []*File // in the order of names
	dirs       []*Dir  // in path order
	before     []int32 // for each of dirs, the number of files before it in path order
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

// Gone reports whether the directory was removed or is omitted now. A Dir never comes back: the same path then has
// another Dir.
func (d *Dir) Gone() bool { return d.gone.Load() }

// place returns the path of the directory for system calls.
func (d *Dir) place() string {
	if d.Path == "" {
		return "."
	}
	return d.Path[:len(d.Path)-1]
}

// vanish marks d and everything below it as removed, and returns their cost.
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

// same reports whether two listings are equal.
func (l *listing) same(o *listing) bool {
	return o != nil && l.ignored == o.ignored && l.hidden == o.hidden && l.lost == o.lost && l.unreadable == o.unreadable &&
		slices.Equal(l.files, o.files) && slices.Equal(l.dirs, o.dirs) && slices.Equal(l.before, o.before)
}

// vanish marks the directories that are in l but not in now as removed, and returns their cost.
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
