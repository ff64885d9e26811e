package sandbox

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// FileChange is a file or directory that a command changed, as the supervisor saw it in the command's system calls.
type FileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"`         // created, written (opened for writing, or replaced), renamed, removed
	From   string `json:"from,omitempty"` // of a renamed one and of a new hard link: the name before
}

// Bounds of the changes of one command: the names that are kept, and their bytes.
const (
	maxChanged      = 1000
	maxChangedBytes = 128 << 10
)

// changes are the effects of a command on files. A name that the command made and removed again has none. The zero value is ready for use.
type changes struct {
	mu    sync.Mutex
	names map[string]name
	bytes int // of the names
	more  int
}

// name is a name that a command has used, with the file that has it now.
type name struct {
	before  bool   // a file had the name before the command
	gone    bool   // no file has it
	origin  string // the name that the file had before the command; "" if the command made it
	link    string // the other name of a hard link that the command made
	written bool
}

// get returns the name at path. If it is not known, before says whether a file had it when the command began.
func (c *changes) get(path string, before bool) name {
	n, ok := c.names[path]
	switch {
	case ok:
		return n
	case before:
		return name{before: true, origin: path}
	}
	return name{gone: true}
}

// set keeps a name if there is place for it.
func (c *changes) set(path string, n name) {
	_, known := c.names[path]
	switch {
	case n.gone && !n.before:
		if known {
			delete(c.names, path)
			c.bytes -= len(path)
		}
		return
	case !known && (len(c.names) >= maxChanged || c.bytes+len(path) > maxChangedBytes):
		c.more++
		return
	case !known:
		c.bytes += len(path)
	}
	if c.names == nil {
		c.names = map[string]name{}
	}
	c.names[path] = n
}

// create notes a file that the command made.
func (c *changes) create(path, link string) {
	n := c.get(path, false)
	c.set(path, name{before: n.before, link: link})
}

// write notes a file that the command opened for writing, under all its names that are known.
func (c *changes) write(path string) {
	n := c.get(path, true)
	n.written = true
	c.set(path, n)
	if n.link != "" && n.link != path && !c.names[n.link].written {
		c.write(n.link)
	}
}

// remove notes a name that the command removed.
func (c *changes) remove(path string) {
	c.set(path, name{before: c.get(path, true).before, gone: true})
}

// rename notes that the file at path has another name. replaced says whether a file had that name.
func (c *changes) rename(path, to string, replaced bool) {
	n, at := c.get(path, true), c.get(to, replaced)
	c.set(path, name{before: n.before, gone: true})
	n.before = at.before
	c.set(to, n)
}

// exchange notes that two files exchanged their names.
func (c *changes) exchange(path, other string) {
	a, b := c.get(path, true), c.get(other, true)
	a.before, b.before = b.before, a.before
	c.set(other, a)
	c.set(path, b)
}

// exchangeBelow notes that the names below two directories moved to the other one.
func (c *changes) exchangeBelow(path, other string) {
	ours, theirs := c.takeBelow(path), c.takeBelow(other)
	c.putBelow(other, ours)
	c.putBelow(path, theirs)
}

// takeBelow removes and returns the present names below a directory, without its own.
func (c *changes) takeBelow(dir string) map[string]name {
	taken := map[string]name{}
	for path, n := range c.names {
		if rest, ok := strings.CutPrefix(path, dir+"/"); ok && !n.gone {
			taken[rest] = n
		}
	}
	for rest, n := range taken {
		c.set(dir+"/"+rest, name{before: n.before, gone: true})
	}
	return taken
}

func (c *changes) putBelow(dir string, names map[string]name) {
	for rest, n := range names {
		n.before = c.get(dir+"/"+rest, false).before
		c.set(dir+"/"+rest, n)
	}
}

// all returns the changes, ordered by path, and the number of those for which there was no place.
func (c *changes) all() (files []FileChange, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	files = []FileChange{}
	renamed := map[string]bool{}
	for path, n := range c.names {
		if !n.gone && n.origin != path {
			renamed[n.origin] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.names)) {
		n := c.names[path]
		switch {
		case n.gone && !renamed[path]:
			files = append(files, FileChange{Path: path, Change: "removed"})
		case n.gone, n.origin == path && !n.written:
		case n.origin == path, n.origin == "" && n.before:
			files = append(files, FileChange{Path: path, Change: "written"})
		case n.origin == "":
			files = append(files, FileChange{Path: path, Change: "created", From: n.link})
		default:
			files = append(files, FileChange{Path: path, Change: "renamed", From: n.origin})
		}
	}
	return files, c.more
}
