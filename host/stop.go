package host

import (
	"context"
	"errors"

	"toolhost/agenttool"
)

// CancelAck answers a cancel request.
type CancelAck struct {
	Acknowledged bool   `json:"acknowledged"`
	Status       string `json:"status"` // the call's state at the request; unknown if there is no such live call
}

// Cancel ends a live call, by the client's id or the invocation's. It returns before the call has ended. A call that
// runs in a batch whose policy says block is not interrupted (AT-202, AT-203).
func (h *Host) Cancel(id string, reason string) CancelAck {
	c := h.live.find(id)
	if c == nil {
		return CancelAck{Status: "unknown"}
	}
	status := c.rec.status()
	if status == agenttool.StatusRunning && c.batch != nil && c.batch.policy.InterruptBehavior == "block" {
		return CancelAck{Status: string(status)}
	}
	c.rec.emit(agenttool.EventCancelRequested, "reason", reason)
	c.cancel(errInterrupted(reason))
	return CancelAck{Acknowledged: true, Status: string(status)}
}

// Drain is the end of input: no more calls come, and no user is left to ask. Calls that still wait for a slot, a lock
// or an answer are cancelled unless they are read-only; the rest goes on until ctx ends, and is then cancelled.
// Drain returns when all calls have ended and were handed over.
func (h *Host) Drain(ctx context.Context) {
	h.live.mu.Lock()
	h.live.draining = true
	for _, c := range h.live.calls {
		if c.waiting {
			c.cancel(errShutdown)
		}
	}
	h.live.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		h.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		h.stop(errShutdown)
		<-ended // bounded: a call that does not end is abandoned
	}
}

// Close ends the host: no call is taken any more, running ones are cancelled, jobs die, and the log is closed. The error says
// what could not be written.
func (h *Host) Close() error {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	h.Drain(gone)
	h.o.Store.Touch() // ending jobs may wait for the disk, too
	h.jobs.end()
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if h.live.closed {
		return nil
	}
	h.live.closed = true
	return errors.Join(h.runner.Close(), h.o.Store.Close())
}
