package search

import (
	"context"
	"runtime"
	"sync"
)

// maxAhead bounds the files that are searched, or wait with their results, ahead of the one whose turn it is.
const maxAhead = 128

// job is a found file on its way through the workers.
type job struct {
	found
	out  scanned
	done chan struct{} // closed when out is set
}

// pipeline searches files side by side and hands their results on in the order in which they were found.
type pipeline struct {
	find   func(ctx context.Context, visit func(found) bool)       // finds files until visit returns false
	search func(context.Context, *scanner, found) scanned          // searches one file
	worker func() (s *scanner, release func())                     // lends what one worker needs
	take   func(ctx context.Context, f found, result scanned) bool // wants more while it returns true
}

// run returns when everything was taken, take returned false, or ctx is done. By then nothing of it runs any more.
// After the end of ctx nothing is taken.
func (p *pipeline) run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()

	todo, inOrder := make(chan *job), make(chan *job, maxAhead)
	all.Go(func() {
		defer close(inOrder)
		defer close(todo)
		p.find(ctx, func(f found) bool { return dispatch(ctx, f, todo, inOrder) })
	})
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { p.work(ctx, todo) })
	}
	for j := range inOrder {
		<-j.done
		if ctx.Err() == nil && !p.take(ctx, j.found, j.out) {
			stop()
		}
		j.release()
	}
}

// dispatch gives a found name to a worker, if there is anything to search, and then puts it in the queue: whatever is
// in the queue will be done.
func dispatch(ctx context.Context, f found, todo, inOrder chan<- *job) bool {
	j := &job{found: f, done: make(chan struct{})}
	if f.kind != regularFile {
		close(j.done)
	} else {
		f.dir.keep() // for the worker
		f.dir.keep() // for take
		select {
		case todo <- j:
		case <-ctx.Done():
			j.release()
			j.release()
			return false
		}
	}
	select {
	case inOrder <- j:
		return true
	case <-ctx.Done():
		j.release()
		return false
	}
}

// release gives up one use of the directory of a file to search.
func (j *job) release() {
	if j.kind == regularFile {
		j.dir.drop()
	}
}

func (p *pipeline) work(ctx context.Context, todo <-chan *job) {
	s, release := p.worker()
	defer release()
	for j := range todo {
		j.out = p.search(ctx, s, j.found)
		j.release()
		close(j.done)
	}
}
