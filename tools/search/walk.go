package search

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

const (
	maxEntries  = 1 << 20 // names of one directory that are looked at
	maxOpen     = 64      // directories above the present one that are kept open
	maxPathSize = 4096    // bytes of a path below the search root; no tool could open a longer one
)

// kind is what a found name stands for.
type kind uint8

const (
	regularFile kind = iota
	link
	unreadable // a directory, or what is left of one, that could not be read
	special    // a FIFO, socket or device
)

// found is a name that the walk came to. Directories are not among them.
type found struct {
	kind kind
	dir  *handle // holds the name; open during the visit, and longer for who keeps it
	name string
	path string // below the search root, slash-separated
}

// handle is an open directory with several users. The last one to drop it closes it.
type handle struct {
	*workspace.Dir
	users atomic.Int32
}

func newHandle(d *workspace.Dir) *handle {
	h := &handle{Dir: d}
	h.users.Store(1)
	return h
}

func (h *handle) keep() { h.users.Add(1) }

func (h *handle) drop() {
	if h.users.Add(-1) == 0 {
		h.Close()
	}
}

// walker goes through everything below a search root, in order.
type walker struct {
	ws       *workspace.Workspace
	root     agenttool.Path
	hidden   bool                   // names that begin with a dot count too
	noIgnore bool                   // ignore files do not count
	enter    func(path string) bool // whether a directory may hold anything that is wanted

	visit func(found) bool // goes on while it returns true

	above    string   // path from the topmost ignore file to the search root, with a slash
	levels   []*level // from the search root to the present directory
	omitted  int      // names left out by ignore files
	unlisted int      // names left out for their dot
}

// level is a directory on the way to the present one.
type level struct {
	dir   *handle // nil while it is closed to save descriptors
	path  string  // below the search root, with a slash; "" for the root
	rules rules
	dev   uint64 // which directory it is; set while it is closed
	ino   uint64
}

// entry is a name in a directory. Its key orders it as its path orders what is below it.
type entry struct {
	key  string // the name, with a slash for a directory
	mode fs.FileMode
}

func (e entry) name() string { return strings.TrimSuffix(e.key, "/") }

// walk visits what is below dir, the open search root, and closes it. Afterwards omitted and unlisted are final.
func (w *walker) walk(ctx context.Context, dir *workspace.Dir) {
	root := &level{dir: newHandle(dir)}
	if !w.noIgnore {
		root.rules = w.inherited()
	}
	w.directory(ctx, root)
	root.close()
}

// inherited returns the rules of the directories above the search root, up to the workspace root that holds it.
func (w *walker) inherited() (r rules) {
	if w.root.Root == "" || w.root.Root == w.root.Resolved {
		return r
	}
	rest := strings.TrimPrefix(w.root.Resolved[len(w.root.Root):], "/")
	w.above = rest + "/"
	at := ""
	for name := range strings.SplitSeq(rest, "/") {
		p := w.root
		p.Resolved = filepath.Join(p.Root, at)
		if dir, err := w.ws.OpenDir(p); err == nil {
			r = r.enter(dir, at, look(dir))
			dir.Close()
		}
		at = strings.TrimPrefix(at+"/"+name, "/")
	}
	return r
}

// directory visits what is in the directory l and below it. It returns false when the walk is to end.
func (w *walker) directory(ctx context.Context, l *level) bool {
	w.levels = append(w.levels, l)
	defer func() { w.levels = w.levels[:len(w.levels)-1] }()
	entries, has, err := list(l.dir)
	if !w.noIgnore {
		l.rules = l.rules.enter(l.dir.Dir, strings.TrimSuffix(w.above+l.path, "/"), has)
	}
	for _, e := range entries {
		switch {
		case ctx.Err() != nil:
			return false
		case w.leavesOut(l, e):
		case !e.mode.IsDir():
			if !w.visit(found{e.kind(), l.dir, e.key, l.path + e.key}) {
				return false
			}
		case !w.descend(ctx, l, e):
			return false
		case l.dir == nil: // it was closed and is not where it was: what is left of it is lost
			return w.lost(l)
		}
	}
	return err == nil || w.lost(l)
}

// lost reports that l, or the rest of it, could not be read.
func (w *walker) lost(l *level) bool {
	return w.visit(found{kind: unreadable, path: strings.TrimSuffix(l.path, "/")})
}

// leavesOut reports whether an entry of l is hidden, ignored, or cannot hold what is wanted.
func (w *walker) leavesOut(l *level, e entry) bool {
	name := e.name()
	if name == ".git" {
		return true
	}
	if !w.hidden && name[0] == '.' {
		w.unlisted++
		return true
	}
	if l.rules != (rules{}) && l.rules.ignores(w.above+l.path+name, e.mode.IsDir()) {
		w.omitted++
		return true
	}
	if !e.mode.IsDir() {
		return false
	}
	return !w.enter(l.path+name) || w.ws.Private(filepath.Join(w.root.Resolved, l.path+name))
}

// descend visits the subdirectory e of l.
func (w *walker) descend(ctx context.Context, l *level, e entry) bool {
	next := &level{path: l.path + e.key, rules: l.rules}
	if len(next.path) > maxPathSize {
		return w.lost(next)
	}
	dir, err := l.dir.OpenDir(e.name())
	if err != nil {
		return w.lost(next)
	}
	next.dir = newHandle(dir)
	if far := len(w.levels) - maxOpen; far >= 0 {
		w.levels[far].suspend()
	}
	goOn := w.directory(ctx, next)
	l.resume(next)
	next.close()
	return goOn
}

func (l *level) close() {
	if l.dir != nil {
		l.dir.drop()
		l.dir = nil
	}
}

// suspend closes l until the walk comes back to it.
func (l *level) suspend() {
	if l.dir == nil {
		return
	}
	st, err := l.dir.Lstat(".")
	if err != nil {
		return
	}
	l.dev, l.ino = uint64(st.Dev), st.Ino
	l.close()
}

// resume opens a suspended l as the parent of child, if that is the same directory still.
func (l *level) resume(child *level) {
	if l.dir != nil || child.dir == nil {
		return
	}
	dir, err := child.dir.OpenDir("..")
	if err != nil {
		return
	}
	if st, err := dir.Lstat("."); err != nil || uint64(st.Dev) != l.dev || st.Ino != l.ino {
		dir.Close()
		return
	}
	l.dir = newHandle(dir)
}

// list returns the entries of dir in order. With an error there are those that could be read.
func list(dir *handle) (entries []entry, has present, err error) {
	all, err := dir.File().ReadDir(maxEntries)
	if len(all) == maxEntries {
		err = syscall.EOVERFLOW
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	entries = make([]entry, len(all))
	for i, e := range all {
		key := e.Name()
		switch key {
		case ".git":
			has.git = true
		case ".gitignore":
			has.gitignore = true
		case ".ignore":
			has.ignore = true
		}
		if e.IsDir() {
			key += "/"
		}
		entries[i] = entry{key, e.Type()}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return entries, has, err
}

func (e entry) kind() kind {
	switch {
	case e.mode.IsRegular():
		return regularFile
	case e.mode&fs.ModeSymlink != 0:
		return link
	}
	return special
}

// open opens a found file for openRegular.
func (f found) open() (*os.File, error) { return f.dir.Open(f.name, os.O_RDONLY, 0) }

// modified returns the time at which a found name was last changed, in nanoseconds since 1970; 0 when it is gone.
func (f found) modified() int64 {
	st, err := f.dir.Lstat(f.name)
	if err != nil {
		return 0
	}
	return unix.TimespecToNsec(st.Mtim)
}
