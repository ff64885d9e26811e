package host

import (
	"context"
	"errors"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// CancelAck answers a cancel request.
type CancelAck struct {
	Acknowledged bool   `json:"acknowledged"`
	Status       string `json:"status"` // the call's state at the request; unknown if there is no such live call
}

// CancelKind is a kind of request to cancel a call.
type CancelKind string

// The kinds.
const (
	Interrupt CancelKind = "interrupt" // the result says that it was canceled
	Fallback  CancelKind = "fallback"  // the model's stream was given up for another: the result is discarded
)

// CancelKinds lists the kinds.
var CancelKinds = []CancelKind{Interrupt, Fallback}

// maxReason is the most bytes of a reason, and of the id of an unknown call, that a record holds.
const maxReason = 1 << 10

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

// requestCancel records a request to cancel the call, which it refuses if blocked is not empty, the reason why a running call is not
// interrupted. late is true for a call that has its result, where nothing was recorded.
func (r *record) requestCancel(kind CancelKind, reason, blocked string) (ack CancelAck, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := r.inv.Status
	ack = CancelAck{Status: string(status)}
	if r.writing == elsewhere || r.ended {
		return ack, true
	}
	if status != agenttool.StatusRunning {
		blocked = ""
	}
	ack.Acknowledged = blocked == ""
	r.events = append(r.events, r.event(agenttool.EventCancelRequested, cancelData(kind, reason, ack, blocked)...))
	if ack.Acknowledged {
		r.canceled = string(kind)
		r.events = append(r.events, r.event(agenttool.EventCancelAcknowledged, "kind", string(kind)))
	}
	return ack, false
}

// cancelData is the data of the event of a request. because says why it is refused.
func cancelData(kind CancelKind, reason string, ack CancelAck, because string) []any {
	data := []any{"kind", string(kind), "reason", reason, "status", ack.Status, "acknowledged", ack.Acknowledged}
	if !ack.Acknowledged {
		data = append(data, "because", because)
	}
	return data
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

// abandonAfter is how long a call may go on after its context has ended: a command gets a second of that to end by itself. A call that is
// stuck in the kernel, for instance on a dead network file system, keeps its locks, but its caller gets an answer.
const abandonAfter = 1700 * time.Millisecond

const (
	touchAfter = 200 * time.Millisecond // a call that ends is not looked after before
	stuckAfter = 600 * time.Millisecond // where the disk of the session stalls, a call is not waited for longer
)

// overdue makes sure that a call whose context has ended is answered: soon if the disk of the session stalls, since the call may
// wait for the same disk.
func (c *call) overdue() {
	c.ctxEnd.Store(time.Now().UnixNano())
	store := c.host.o.Store
	time.AfterFunc(touchAfter, func() {
		if !c.concluding.Load() {
			store.Touch()
		}
	})
	time.AfterFunc(stuckAfter, func() {
		if store.Stalled() {
			c.abandon()
		}
	})
	time.AfterFunc(abandonAfter, c.abandon)
}

// abandon concludes a call that is stuck. The stuck goroutine goes on with a record that is not used any more.
func (c *call) abandon() {
	if !c.concluding.CompareAndSwap(false, true) {
		return
	}
	c.host.live.mu.Lock()
	held := c.turn
	c.host.live.mu.Unlock()
	c.host.places.stays(c)
	if held.place != nil {
		held.place.Withdraw() // a stuck call that does not run holds up no other
		held.place.Strand()   // and one that runs holds up only those that need its locks
	}
	rec, cause := c.rec.fork(), context.Cause(c.ctx)
	rec.begin(c)
	rec.fail(agenttool.StatusFailed, agenttool.AsError(cause, agenttool.Canceled))
	c.conclude(&ending{
		c: c, rec: rec, stuck: true, hooks: c.hooks.fork(rec), turn: turn{gate: held.gate, room: held.room},
		at: func() situation { return situation{mode: c.host.Mode()} },
	}, cause)
}

// errDeadline is why a call with a deadline ended.
func errDeadline(d time.Duration) error {
	return agenttool.Failure(agenttool.Timeout, "deadline_exceeded", "the call did not end within its timeout of "+d.String())
}

// errShutdown is why calls end when the host does.
var errShutdown = agenttool.Failure(agenttool.Canceled, "runtime_shutdown", "toolhost is shutting down")

// errSibling is why a call ends when another call of its batch failed.
var errSibling = agenttool.Failure(agenttool.SiblingCanceled, "sibling_error", "another call of the batch failed")

// errInterrupted is why a call ends that its client canceled.
func errInterrupted(reason string) error {
	message := "the call was canceled"
	if reason != "" {
		message += ": " + reason
	}
	return agenttool.Failure(agenttool.Canceled, "user_interruption", message)
}

// errFallback is why a call ends whose model stream was given up for another.
func errFallback(reason string) error {
	message := "the model's stream was given up, and this call with it"
	if reason != "" {
		message += ": " + reason
	}
	return agenttool.Failure(agenttool.StreamingFallbackDiscarded, "stream_given_up", message)
}

// abortReason is the standard's word for why a call ended before its time (AT-244), empty if it did not.
func abortReason(e *agenttool.Error) string {
	if e == nil {
		return ""
	}
	return abortReasons[e.Code]
}

var abortReasons = map[string]string{
	"deadline_exceeded": "timeout",
	"runtime_shutdown":  "runtime shutdown",
	"user_interruption": "user interruption",
	"sibling_error":     "sibling error",
	"stream_given_up":   "fallback",
}
