package notify

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pauses are the calls of a listener that met a wall and wait for an answer. One costs two goroutines and no thread.
type pauses struct {
	l     *Listener
	ctx   context.Context // over when the listener ends
	stop  context.CancelFunc
	doing chan struct{} // bounds the threads of those that go on

	mu      sync.Mutex
	waiting int
	ended   bool
	all     sync.WaitGroup
}

func (ps *pauses) init(l *Listener) {
	ps.l, ps.doing = l, make(chan struct{}, maxWorkers)
	ps.ctx, ps.stop = context.WithCancel(context.Background())
}

// begin has a call wait for the outcome of its question. It does not block itself.
func (ps *pauses) begin(r *request) error {
	n, c, asked := r.n, r.call, r.asked
	return ps.hold(n, r.question, Verdict(unix.EROFS), func() { ps.again(n, c, asked) })
}

// hold has a caller wait for the outcome of a question, and then calls again. refused is the answer where too many wait.
func (ps *pauses) hold(n *notification, question Question, refused Verdict, again func()) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.ended || ps.waiting >= maxPauses || question == nil {
		return ps.l.answer(n, refused)
	}
	ps.waiting++
	ps.all.Go(func() { // ends with the answer, when the caller has gone, or by end
		if ps.wait(n, question) {
			again()
		}
		ps.mu.Lock()
		ps.waiting--
		ps.mu.Unlock()
	})
	return nil
}

// end gives up all that waits.
func (ps *pauses) end() {
	ps.mu.Lock()
	ps.ended = true
	ps.mu.Unlock()
	ps.stop()
	ps.all.Wait()
}

// wait waits for the end of a question. It reports whether the caller still waits then.
func (ps *pauses) wait(n *notification, question Question) bool {
	ctx, cancel := context.WithCancel(ps.ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		question(ctx)
	}()
	look := time.NewTicker(recheck)
	defer look.Stop()
	for {
		select {
		case <-over:
			return ps.ctx.Err() == nil && ps.l.valid(n.id)
		case <-look.C:
			if !ps.l.valid(n.id) {
				cancel()
				<-over
				return false
			}
		}
	}
}

// again does a call from its beginning: names and rights may be others by now. Its thread ends with the goroutine.
func (ps *pauses) again(n *notification, c call, asked int) {
	ps.doing <- struct{}{}
	defer func() { <-ps.doing }()
	r := newRequest(ps.l, newWorker(), n, c)
	r.asked = asked
	_ = ps.l.do(r) // an error ends the listener, and the next receive returns it
}
