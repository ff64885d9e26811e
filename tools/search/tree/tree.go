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

// Options say what a tree leaves out. The zero value leaves out hidden and ignored names.
type Options struct {
	Hidden   bool                   // names that begin with a dot count too
	NoIgnore bool                   // ignore files do not count
	Private  func(path string) bool // directories that are left out unseen, by path below the root; nil: none. Called concurrently
	Git      ignore.Environment     // where git's configuration is

	// Denied reports whether a file of rules or of git's configuration must not be read, by its absolute path without
	// links and its identity: then it is as if it were missing. It is asked each time that one is read, not when a kept
	// one is still right: Reread is for when it changed its mind. nil: none. Called concurrently.
	Denied func(path string, dev, ino uint64) bool
}

// Place is where a tree is.
type Place struct {
	Root *os.File // the open search root
	Path string   // its absolute path without links
	Top  string   // the topmost directory whose ignore files count where no repository is: Path or one above it
}

// Tree is what is below one directory. Its methods are safe for concurrent use; refreshes wait for one another.
type Tree struct {
	place   Place
	options Options
	workers sync.Pool // of *worker
	room    atomic.Int64

	mu     sync.Mutex // held by a refresh
	above  *above
	root   *Dir
	last   *List
	again  []*Dir // to be listed whatever their status says
	behind bool   // last is older than the listings: a refresh failed
	repos  []*Dir // with sources whose status no event in the tree tells
	stale  bool   // all rules are to be read again
	round  uint32
}

// New returns the tree at p. It takes p.Root over and looks at nothing yet.
func New(p Place, o Options) *Tree {
	root := &Dir{state: state{dirty: true}}
	t := &Tree{place: p, options: o, root: root, again: []*Dir{root}}
	t.room.Store(maxCost)
	return t
}

// Close closes the root when nobody uses it any more. Lists stay as they are; everything else fails from then on.
func (t *Tree) Close() error { return t.place.Root.Close() }

// Refresh returns what is below the root now, in any case what was there when it was called. When nothing changed it
// is the list that was returned before.
//
// When ctx ends, the list is partial and the next Refresh goes on from there. An error means that the root itself
// could not be read, or that the tree is closed.
func (t *Tree) Refresh(ctx context.Context) (*List, error) {
	return t.refresh(ctx, func(r *refresh) {
		r.inspectAll(ctx, t.dirs())
	})
}

// RefreshOnly is Refresh for who knows that nothing changed but the names in dirs and the ignore files there. It
// looks at git's configuration too, which lies elsewhere. Directories that are gone do no harm.
func (t *Tree) RefreshOnly(ctx context.Context, dirs []*Dir) (*List, error) {
	return t.refresh(ctx, func(r *refresh) {
		r.inspectAll(ctx, dirs)
		r.inspectAll(ctx, t.repos)
	})
}

// Reread has the next refresh read all rules again, since Denied does not say what it said.
func (t *Tree) Reread() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stale = true
}

// dirs returns the directories that were listed.
func (t *Tree) dirs() []*Dir {
	if t.last == nil {
		return nil
	}
	return t.last.Dirs
}

// refresh runs one refresh: inspect finds out which directories changed.
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
