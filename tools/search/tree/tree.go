package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/ignore"
)

// Options select the names that a tree omits. The zero value omits hidden and ignored names.
type Options struct {
	Hidden   bool                   // list names that begin with a dot
	NoIgnore bool                   // disregard ignore files
	Private  func(path string) bool // directories to omit, by path below the root; nil: none. Called concurrently
	Git      ignore.Environment     // the location of git's configuration

	// Denied reports whether a file with rules or git configuration must not be read. It gets the absolute path
	// without links, the device and the inode. A denied file is treated as missing. Denied is called for each read,
	// but not while cached rules are still valid: call Reread when its answers change. nil: none. Called
	// concurrently.
	Denied func(path string, dev, ino uint64) bool
}

// Place is the location of a tree.
type Place struct {
	Root *os.File // the open search root
	Path string   // its absolute path without links
	Top  string   // the topmost directory with ignore files that count outside a repository: Path or one above it
}

// Tree keeps a list of the files below one directory. Its methods are safe for concurrent use; refreshes run one at a
// time.
type Tree struct {
	place   Place
	options Options
	workers sync.Pool // of *worker
	room    atomic.Int64

	mu    sync.Mutex // held by a refresh
	above *above
	snapshot
	backlog
}

// snapshot is the result of the last refresh.
type snapshot struct {
	root   *Dir
	last   *List
	behind bool // last is older than the listings: a refresh failed
	round  uint32
}

// backlog is the work of the next refresh.
type backlog struct {
	again []*Dir // must be listed again even if their status is unchanged
	repos []*Dir // directories with sources whose changes cause no event in the tree
	stale bool   // all rules must be read again
}

// New returns the tree at p. It takes ownership of p.Root and reads nothing yet.
func New(p Place, o Options) *Tree {
	root := &Dir{state: state{dirty: true}}
	t := &Tree{place: p, options: o, snapshot: snapshot{root: root}, backlog: backlog{again: []*Dir{root}}}
	t.room.Store(maxCost)
	return t
}

// Close closes the root after its last use. Lists stay valid; everything else fails afterwards.
func (t *Tree) Close() error { return t.place.Root.Close() }

// Refresh returns the current files below the root: at least those that existed when it was called. If nothing
// changed it returns the previous list.
//
// When ctx ends, the list is partial and the next Refresh continues. An error means that the root itself could not be
// read, or that the tree is closed.
func (t *Tree) Refresh(ctx context.Context) (*List, error) {
	return t.refresh(ctx, func(r *refresh) {
		r.inspectAll(ctx, t.dirs())
	})
}

// RefreshOnly is Refresh for a caller that knows that only names in dirs and the ignore files there changed. It also
// checks git's configuration, which lies elsewhere. dirs may contain removed directories.
func (t *Tree) RefreshOnly(ctx context.Context, dirs []*Dir) (*List, error) {
	return t.refresh(ctx, func(r *refresh) {
		r.inspectAll(ctx, dirs)
		r.inspectAll(ctx, t.repos)
	})
}

// Reread makes the next refresh read all rules again, because Denied changed its answers.
func (t *Tree) Reread() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stale = true
}

// dirs returns the directories that were listed.
func (t *snapshot) dirs() []*Dir {
	if t.last == nil {
		return nil
	}
	return t.last.Dirs
}

// refresh runs one refresh: inspect marks the changed directories.
func (t *Tree) refresh(ctx context.Context, inspect func(*refresh)) (list *List, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.round++
	failed := t.withRoot(func(fd int) {
		r := &refresh{Tree: t, fd: fd}
		for _, d := range t.again {
			r.mark(d)
		}
		if t.stale {
			r.distrust()
		}
		r.inspectAbove()
		inspect(r)
		r.inspectIndexes()
		r.walk(ctx)
		list, err = r.result()
	})
	if failed != nil {
		return nil, failed
	}
	return list, err
}

// withRoot calls use with the root's descriptor, which stays open until use returns.
func (t *Tree) withRoot(use func(fd int)) error {
	conn, err := t.place.Root.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) { use(int(fd)) })
	}
	if err != nil {
		return fmt.Errorf("search %s: %w", t.place.Path, errors.Join(os.ErrClosed, err))
	}
	return nil
}

// Open opens the directory d of this tree; no link is followed below the root. The caller closes it with unix.Close.
func (t *Tree) Open(d *Dir) (fd int, err error) {
	failed := t.withRoot(func(root int) {
		fd, err = openBeneath(root, d.place(), safely|unix.O_DIRECTORY)
	})
	if failed != nil {
		return -1, failed
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: d.place(), Err: err}
	}
	return fd, nil
}

// OpenRoot opens the search root. The caller closes it with unix.Close.
func (t *Tree) OpenRoot() (fd int, err error) { return t.Open(t.root) }
