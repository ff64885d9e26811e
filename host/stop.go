package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
)

// CancelAck answers a cancel request.
type CancelAck struct {
	Acknowledged bool   `json:"acknowledged"`
	Status       string `json:"status"` // the call's state when it was asked; unknown if there is no such live call
}

// Cancel ends a live call, by the client's id or the invocation's. It returns before the call has ended. A call that
// runs in a batch whose policy says block is not interrupted (AT-202, AT-203).
func (h *Host) Cancel(id string, reason string) CancelAck {
	c := h.find(id)
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

func (h *Host) find(id string) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.calls[id]; c != nil {
		return c
	}
	for _, c := range h.calls {
		if string(c.rec.id) == id {
			return c
		}
	}
	return nil
}

// mayStart reports whether the call, which has its slot or must wait for it, may go on. After the end of input only
// what is read-only may still wait.
func (h *Host) mayStart(c *call, atOnce bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining && !c.readOnly() && (!atOnce || c.held) {
		return false
	}
	c.waiting = !atOnce && !c.readOnly()
	return true
}

// beginWait is mayStart for a call that would wait for a person; started ends it.
func (h *Host) beginWait(c *call) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.waiting = !h.draining
	return !h.draining
}

// started says that the call waits no longer.
func (h *Host) started(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.waiting = false
}

// Drain is the end of input: no more calls come, and nobody is left to ask. Calls that still wait for a slot, a lock
// or an answer are cancelled unless they are read-only; the rest goes on until ctx ends, and is then cancelled.
// Drain returns when all calls have ended and were handed over.
func (h *Host) Drain(ctx context.Context) {
	h.mu.Lock()
	h.draining = true
	for _, c := range h.calls {
		if c.waiting {
			c.cancel(errShutdown)
		}
	}
	h.mu.Unlock()
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
	h.o.Store.Touch() // what ends jobs may wait for the disk, too
	h.endJobs()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	return errors.Join(h.runner.Close(), h.o.Store.Close())
}

// Status is what is going on.
type Status struct {
	Calls   []CallStatus          `json:"calls"`
	Jobs    []agenttool.JobStatus `json:"jobs"`
	Pending []agenttool.Decision  `json:"pending_decisions"`
	Mode    string                `json:"mode"`
}

// CallStatus is one live call.
type CallStatus struct {
	ID           string                     `json:"id"`
	InvocationID agenttool.InvocationID     `json:"invocation_id"`
	ToolID       agenttool.ToolID           `json:"tool_id"`
	Status       agenttool.InvocationStatus `json:"status"`
	ElapsedMS    int64                      `json:"elapsed_ms"`
}

// Status returns the live calls, jobs and open prompts, oldest first.
func (h *Host) Status() Status {
	s := Status{Calls: []CallStatus{}, Jobs: h.listJobs(), Pending: []agenttool.Decision{}, Mode: string(h.Mode())}
	now := h.o.Now()
	h.mu.Lock()
	for _, c := range h.calls {
		inv := c.rec.view()
		started, _ := time.Parse(time.RFC3339, inv.CreatedAt)
		s.Calls = append(s.Calls, CallStatus{c.req.ID, inv.InvocationID, inv.ToolID, inv.Status, now.Sub(started).Milliseconds()})
	}
	h.mu.Unlock()
	for _, p := range h.prompts.All() {
		s.Pending = append(s.Pending, p.Decision)
	}
	slices.SortFunc(s.Calls, func(a, b CallStatus) int { return strings.Compare(string(a.InvocationID), string(b.InvocationID)) })
	return s
}
