package mcp

import (
	"sync"
	"time"
)

// admission keeps the calls of a stream in the order of their lines until the host has them. The SDK handles each request in
// a goroutine of its own, so the next call is handed to it only when the host has the one before. The zero value is ready,
// and nil keeps no order.
type admission struct {
	mu      sync.Mutex
	last    *request
	settled chan struct{} // closed when the host has the last call, or when that was refused; nil: no call came yet
}

// next waits until the host has the last call, at most settleTime, and begins another one.
func (a *admission) next(r *request) {
	if a == nil {
		return
	}
	a.mu.Lock()
	settled := a.settled
	a.mu.Unlock()
	if settled != nil {
		await(settled, settleTime)
	}
	a.mu.Lock()
	a.last, a.settled = r, make(chan struct{})
	a.mu.Unlock()
}

// await waits until a channel is closed, or for the limit.
func await(c <-chan struct{}, limit time.Duration) {
	select {
	case <-c:
		return
	default:
	}
	select {
	case <-c:
	case <-time.After(limit):
	}
}

// begun says that the host has the last call.
func (a *admission) begun() { a.settle(nil) }

// refused says that a call is answered: if it is the last one, and the SDK refused it, the host never has it.
func (a *admission) refused(r *request) {
	if r != nil {
		a.settle(r)
	}
}

// settle lets the next call begin if r is the last one; nil is whichever that is.
func (a *admission) settle(r *request) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.settled == nil || r != nil && r != a.last {
		return
	}
	a.last = nil // a later answer to the same request settles nothing
	select {
	case <-a.settled:
	default:
		close(a.settled)
	}
}

// How long it may take until one more of the calls that were received begins, and how often that is looked at.
const (
	settleTime  = 2 * time.Second
	settlePause = time.Millisecond
)
