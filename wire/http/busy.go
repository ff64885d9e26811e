package http

import (
	"context"
	"slices"
	"sync"
	"time"
)

// room is a number of places. A request that finds none free waits in line for a while.
type room struct {
	most int64
	wait time.Duration // in line; 0: nobody waits

	mu   sync.Mutex
	used int64
	line []*waiter
}

// waiter is one in line.
type waiter struct {
	n     int64
	ready chan struct{} // closed when it has its places
}

// take reports whether it got n places, which give returns. It waits for them until ctx ends or its time is over.
func (r *room) take(ctx context.Context, n int64) bool {
	r.mu.Lock()
	if len(r.line) == 0 && r.used+n <= r.most {
		r.used += n
		r.mu.Unlock()
		return true
	}
	if r.wait <= 0 || n > r.most {
		r.mu.Unlock()
		return false
	}
	w := &waiter{n, make(chan struct{})}
	r.line = append(r.line, w)
	r.mu.Unlock()
	select {
	case <-w.ready:
		return true
	case <-time.After(r.wait):
	case <-ctx.Done():
	}
	return !r.drop(w)
}

// drop takes w out of the line. It reports false if w has its places.
func (r *room) drop(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.line, w)
	if i < 0 {
		return false
	}
	r.line = slices.Delete(r.line, i, i+1)
	r.serveLocked() // the next one may want less
	return true
}

// give returns n places.
func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.serveLocked()
}

// serveLocked gives free places to the line, in its order.
func (r *room) serveLocked() {
	for len(r.line) > 0 && r.used+r.line[0].n <= r.most {
		r.used += r.line[0].n
		close(r.line[0].ready)
		r.line = slices.Delete(r.line, 0, 1)
	}
}

// share are the requests of one client.
type share struct {
	calls   room // each waits for its turn
	streams room // that stand; they take no place of a call
	known   int  // requests that wait or are being answered
}

// limits are the limits for clients.
type limits struct {
	requestTimes
	patience
	capacity
}

// requestTimes bound one request.
type requestTimes struct {
	header, body, write, idle time.Duration // for a request's head, the whole request, one write, and between requests
	unknown                   time.Duration // for the body of a request without the token
}

// patience bounds the waiting for clients.
type patience struct {
	beat       time.Duration // between comments of an event stream
	grace, cut time.Duration // that requests have to end by themselves, and after they were cut off
	silent     time.Duration // that a connection may be without a token while others wait for its place
	line       time.Duration // that a request waits for its turn
}

// capacity bounds what clients hold at once.
type capacity struct {
	conns, spare int // connections that showed the token, and places besides for those that did not
	perClient    int // calls at once of one address
	standing     int // streams of one address
	streams      int // of events
	page, queue  int // events that are read from the journal at once, and bytes that wait for a client
	bodies       int64
}

// busy counts the requests of each client.
type busy struct {
	l limits

	mu    sync.Mutex
	by    map[string]*share
	total int
	idle  chan struct{} // closed when the last request ends; nil: no caller waits for that
}

func newBusy(l limits) *busy { return &busy{l: l, by: map[string]*share{}} }

// enter begins a request of a client; leave ends it.
func (b *busy) enter(client string) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.by[client]
	if of == nil {
		of = &share{calls: room{most: int64(b.l.perClient), wait: b.l.line}, streams: room{most: int64(b.l.standing)}}
		b.by[client] = of
	}
	of.known++
	b.total++
	return of
}

func (b *busy) leave(client string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of := b.by[client]; of != nil {
		if of.known--; of.known == 0 {
			delete(b.by, client)
		}
	}
	if b.total--; b.total == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// wait returns when no request is left, or after a while: a handler that does not end is not waited for.
func (b *busy) wait(most time.Duration) {
	b.mu.Lock()
	if b.total == 0 {
		b.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	b.idle = idle
	b.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(most):
	}
}
