package http

import (
	"sync"
	"time"
)

// busy counts the requests that are being answered, by address, and the bytes of their bodies.
type busy struct {
	perClient int
	most      int64 // bytes of all bodies

	mu     sync.Mutex
	by     map[string]int
	total  int
	bodies int64
	idle   chan struct{} // closed when the last request ends; nil: no caller waits for that
}

func newBusy(l limits) *busy {
	return &busy{perClient: l.perClient, most: l.bodies, by: map[string]int{}}
}

// enter reports whether one more request of a client may begin; leave ends it.
func (b *busy) enter(client string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[client] >= b.perClient {
		return false
	}
	b.by[client]++
	b.total++
	return true
}

func (b *busy) leave(client string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[client]--; b.by[client] == 0 {
		delete(b.by, client)
	}
	if b.total--; b.total == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// hold reports whether there is room for n bytes more; a negative n gives room back.
func (b *busy) hold(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 && b.bodies+n > b.most {
		return false
	}
	b.bodies += n
	return true
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
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
}
