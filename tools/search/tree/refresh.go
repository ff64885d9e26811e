package tree

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// maxCost bounds a tree. Each name costs 1. Each nameCost bytes of names and directory paths cost 1, and so do each
// ruleCost bytes of rules, which take several times their size in memory.
const (
	maxCost  = 1 << 22
	nameCost = 64
	ruleCost = 8
)

// refresh is one refresh of a tree.
type refresh struct {
	*Tree
	fd int // the root
	verdict
	pool
}

// verdict is the result of a refresh.
type verdict struct {
	changed atomic.Bool // the list is out of date
	moved   atomic.Bool // the set of directories to check next time changed
	ended   atomic.Bool // time or room ran out before everything was listed
	failed  error       // the reason why the root cannot be listed
	short   shortage    // if set, the refresh fails: a directory that could not be opened may still exist
}

// pool hands directories to goroutines.
type pool struct {
	lock    sync.Mutex
	more    sync.Cond // signals new jobs, or the end of all jobs
	stack   []job
	working int // goroutines with a job
	started int
}

// job is a directory to visit.
type job struct {
	dir  *Dir
	deep bool // classify everything in it and below it again
}

// mark makes the walk visit d and list it.
func (r *refresh) mark(d *Dir) {
	d.dirty = true
	for ; d != nil && d.round != r.round; d = d.parent {
		d.round = r.round
	}
}

// distrust makes the refresh read all rules again.
func (r *refresh) distrust() {
	for _, d := range r.dirs() {
		if d.sources != nil {
			r.mark(d)
		}
	}
	for _, d := range r.repos {
		d.sources.index.distrust()
	}
	if r.above != nil {
		r.above.stale = true
		r.above.index.distrust()
	}
	r.moved.Store(true) // the next refresh must not skip the marked directories
	r.stale = false
}

// inspectAbove checks the rules above the root for changes.
func (r *refresh) inspectAbove() {
	if r.options.NoIgnore {
		r.above = &above{}
		return
	}
	if r.above != nil && !r.above.changed(r.fd) {
		return
	}
	now, err := r.readAbove(r.fd)
	now.stale = r.short.note(err)
	if r.above != nil && !r.above.same(now) {
		r.root.deep = true
		r.mark(r.root)
	}
	if r.above != nil {
		now.index = r.above.index.keep(now.index)
	}
	r.above = now
}

// perTurn is the number of directories whose status a goroutine checks at a time; a second goroutine does not pay off
// for fewer.
const perTurn = 128

// inspectAll marks those of dirs that changed.
func (r *refresh) inspectAll(ctx context.Context, dirs []*Dir) {
	var next atomic.Int64
	var lock sync.Mutex
	var changed []*Dir
	inspect := func() {
		for ctx.Err() == nil {
			from := int(next.Add(perTurn)) - perTurn
			if from >= len(dirs) {
				return
			}
			for _, d := range dirs[from:min(from+perTurn, len(dirs))] {
				if r.differs(d) {
					lock.Lock()
					changed = append(changed, d)
					lock.Unlock()
				}
			}
		}
		r.ended.Store(true)
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(dirs)+perTurn-1)/perTurn) - 1 {
		group.Go(inspect)
	}
	inspect()
	group.Wait()
	for _, d := range changed {
		r.mark(d)
	}
}

// differs reports whether the directory d, or a file with its rules, changed.
func (r *refresh) differs(d *Dir) bool {
	if d.Gone() || d.dirty {
		return false
	}
	st, err := statusAt(r.fd, d.place())
	if err != nil || statusOf(&st) != d.status {
		return true
	}
	if d.sources == nil {
		return false
	}
	for i := range d.sources.files {
		if d.sources.files[i].changed(r.fd) {
			return true
		}
	}
	return false
}

// result returns the list after the walk.
func (r *refresh) result() (*List, error) {
	ended := r.ended.Load()
	if r.failed == nil {
		r.failed = r.short.cause()
	}
	changed := r.behind || r.changed.Load()
	r.behind = changed && r.failed != nil
	same := r.last != nil && !changed && !ended && !r.last.Partial
	if same && !r.moved.Load() && r.failed == nil {
		return r.last, nil
	}
	c := &collector{list: &List{Partial: ended}, names: !same && r.failed == nil}
	if c.names {
		c.list.Files = make([]*File, 0, max(0, maxCost-r.room.Load()))
	}
	c.add(r.root)
	r.again, r.repos = c.again, c.repos
	if r.failed != nil {
		return nil, fmt.Errorf("search %s: %w", r.place.Path, r.failed)
	}
	if !same {
		r.last = c.list
	}
	return r.last, nil
}

// collector visits a tree in path order.
type collector struct {
	list  *List
	names bool // files are wanted too
	again []*Dir
	repos []*Dir
}

func (c *collector) add(d *Dir) {
	if d.dirty || d.deep || d.suspect {
		c.again = append(c.again, d)
	}
	if d.sources.begins() {
		c.repos = append(c.repos, d)
	}
	l := d.listing.Load()
	if l == nil {
		c.list.Partial = true
		return
	}
	c.list.count(l)
	if d.status != (status{}) {
		c.list.Dirs = append(c.list.Dirs, d)
	}
	from := 0
	for i, sub := range l.dirs {
		c.files(l.files[from:l.before[i]])
		from = int(l.before[i])
		c.add(sub)
	}
	c.files(l.files[from:])
}

// count adds the numbers of omitted names in one directory.
func (l *List) count(in *listing) {
	l.Ignored += in.ignored
	l.Hidden += in.hidden
	l.Unreadable += in.unreadable
	if in.lost {
		l.Unreadable++
	}
}

func (c *collector) files(files []*File) {
	if c.names {
		c.list.Files = append(c.list.Files, files...)
	}
}
