package host

import (
	"context"
	"errors"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// Cancel ends a live call, by the client's id or the invocation's. It returns before the call has ended. A call that
// runs in a batch whose policy says block, or whose tool does not say that it can be interrupted, goes on (AT-202, AT-203). Every
// request is in the journal (AT-242).
func (h *Host) Cancel(id string, reason string) CancelAck { return h.CancelAs(Interrupt, id, reason) }

// CancelAs is Cancel for a request of a kind.
func (h *Host) CancelAs(kind CancelKind, id, reason string) CancelAck {
	reason = cut.Short(reason, maxReason)
	c := h.live.find(id)
	if c == nil {
		ack := CancelAck{Status: "unknown"}
		h.journal.strayCancel(kind, id, reason, ack, "there is no such call, or it has ended")
		return ack
	}
	ack, late := c.rec.requestCancel(kind, reason, uninterruptible(c))
	switch {
	case late:
		h.journal.strayCancel(kind, id, reason, ack, "it has ended")
	case ack.Acknowledged && kind == Fallback:
		c.rec.push()
		c.cancel(errFallback(reason))
	case ack.Acknowledged:
		c.rec.push()
		c.cancel(errInterrupted(reason))
	default:
		c.rec.push()
	}
	return ack
}

// uninterruptible says why the call goes on, should it run, when it is canceled; empty: it does not.
func uninterruptible(c *call) string {
	switch {
	case c.batch != nil && c.batch.policy.InterruptBehavior == "block":
		return "the interrupt_behavior of its batch is block"
	case c.tool != nil && c.tool.Interface.InterruptBehavior != "cancel": // block, or it says nothing
		return "the interrupt_behavior of its tool is block"
	}
	return ""
}

// strayCancel records a request about a call that does not live. It is an event of no invocation: none follows the result of a call.
func (j *journal) strayCancel(kind CancelKind, id, reason string, ack CancelAck, because string) {
	e := agenttool.Event{EventType: agenttool.EventCancelRequested, Subject: cut.Short(id, maxReason)}
	j.submit(false, j.event(e, cancelData(kind, reason, ack, because)...))
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
