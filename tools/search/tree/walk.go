package tree

import (
	"context"
	"runtime"
	"sync"
)

// walk visits the marked directories from the root down: the rules of a directory are settled before anything below
// it is classified.
func (r *refresh) walk(ctx context.Context) {
	if r.root.round != r.round {
		return
	}
	r.more.L = &r.lock
	r.started = 1
	var group sync.WaitGroup
	r.stack = append(r.stack, job{dir: r.root})
	r.work(ctx, &group)
	group.Wait()
}

// work does jobs, the latest first, until no job is left and no goroutine can add one.
func (r *refresh) work(ctx context.Context, group *sync.WaitGroup) {
	w, ok := r.workers.Get().(*worker)
	if !ok {
		w = &worker{}
	}
	w.refresh = r
	defer func() {
		w.refresh = nil
		r.workers.Put(w)
	}()
	r.lock.Lock()
	defer r.lock.Unlock()
	for {
		for len(r.stack) == 0 {
			if r.working == 0 {
				r.more.Broadcast()
				return
			}
			r.more.Wait()
		}
		j := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		r.working++
		r.lock.Unlock()
		w.below = w.below[:0]
		w.do(ctx, j)
		r.lock.Lock()
		r.working--
		r.add(ctx, w.below, group)
	}
}

// add pushes jobs and starts goroutines for them. The caller holds r.lock.
func (r *refresh) add(ctx context.Context, jobs []job, group *sync.WaitGroup) {
	r.stack = append(r.stack, jobs...)
	for len(r.stack) > r.started && r.started < runtime.GOMAXPROCS(0) {
		r.started++
		group.Go(func() { r.work(ctx, group) })
	}
	if len(jobs) > 1 {
		r.more.Broadcast()
	}
}

// worker lists directories, one at a time.
type worker struct {
	*refresh
	names
	below []job
}

// do lists the directory of j if needed, and finds the jobs below it.
func (w *worker) do(ctx context.Context, j job) {
	d := j.dir
	deep := j.deep || d.deep
	if ctx.Err() != nil || w.room.Load() < 0 || w.short.cause() != nil {
		w.leave(d, deep)
		return
	}
	if deep || d.dirty {
		was := d.suspect
		deep = w.list(ctx, d, deep)
		if d.suspect != was {
			w.moved.Store(true)
		}
	}
	l := d.listing.Load()
	if l == nil {
		return
	}
	for _, sub := range l.dirs {
		if deep || sub.dirty || sub.round == w.round {
			w.below = append(w.below, job{sub, deep})
		}
	}
}

// leave postpones d to the next refresh.
func (w *worker) leave(d *Dir, deep bool) {
	d.deep = deep
	w.ended.Store(true)
}
