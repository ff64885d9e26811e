package host

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
	"toolhost/persist"
)

// call is one call on its way through the pipeline. Its own goroutine changes it; what others may look at while it
// runs is under mu.
type call struct {
	host   *Host
	req    Request
	batch  *batch
	prev   *call // the member of the batch before this one
	after  []dependency
	policy permissions.Policy // the snapshot it is decided under
	ctx    context.Context    // ends with the call's cancellation, deadline or the host; owned by this call alone
	cancel context.CancelCauseFunc
	expire context.CancelFunc

	done    func(Completion)
	settled atomic.Bool // somebody has begun to conclude it
	held    bool        // it waited for another call: the end of input cancels it unless it is read-only
	waiting bool        // for a slot, a lock or an answer: likewise. Host.mu guards it

	order    int64  // its number in the order of admission; Host.mu guards it until it is admitted
	dir      string // where it starts
	declared bool   // its tool says that it may move the session
	others   bool   // other calls ran while it did; Host.mu guards it

	input    []byte // what is bound: the model's input, or a person's edit of it
	seen     []byte // the observable input, once it is known
	tool     *entry
	bound    agenttool.Call
	out      agenttool.Output
	moved    *modifier // of the session's directory; nil: none
	attempt  int       // 2 and more: it ran before, and was kept from something
	wanted   []string  // grants that would permit what it was kept from
	granted  []string  // of them, by a person, for its next attempt
	feedback string    // of the person who allowed it, for the model
	err      *agenttool.Error
	hooks    *hooked // nil: none are set
	hinted   hint    // what the hooks of pre_tool_use say of permission
	turn     turn    // Host.mu guards it, for others than the call itself

	ended  chan struct{} // closed when the result is known
	handed chan struct{} // closed when the result was handed over

	mu        sync.Mutex
	inv       agenttool.Invocation
	result    agenttool.Result
	kept      agenttool.Persistence
	events    []agenttool.Event // not yet in the journal
	steps     int64             // progress records so far
	lastStep  time.Time
	abandoned bool       // somebody else has answered for it: nothing more is recorded
	flushing  sync.Mutex // orders its groups of events in the journal
}

// dependency is a call that must succeed first: a live one, or the outcome of one that has ended.
type dependency struct {
	id        string
	call      *call
	succeeded bool
}

func newCall(h *Host, r Request, policy permissions.Policy) *call {
	now := h.o.Now()
	c := &call{
		host: h, req: r, policy: policy, input: r.Input,
		ended: make(chan struct{}), handed: make(chan struct{}),
		inv: agenttool.Invocation{
			SchemaVersion: agenttool.SchemaVersion,
			InvocationID:  agenttool.InvocationID(h.o.IDs.New("inv_", now)),
			ToolID:        unknownTool,
			NativeCallID:  r.name(), ActorRef: r.Actor, ModelInput: r.Input,
			SchedulerPolicyRef: schedulerPolicyID,
			RuntimeRefs:        append([]string{string(h.o.Session)}, r.Caller.Refs...),
			CreatedAt:          agenttool.Timestamp(now),
		},
	}
	if e := h.registry.names[r.Tool]; e != nil {
		c.inv.ToolID = e.Declaration.ToolID
	}
	if len(r.Trace) > 0 {
		c.inv.TelemetryRefs = append(c.inv.TelemetryRefs, r.Trace)
	}
	c.ctx, c.cancel = context.WithCancelCause(h.ctx)
	c.expire = func() {}
	if r.Timeout > 0 {
		c.ctx, c.expire = context.WithTimeoutCause(c.ctx, r.Timeout, errDeadline(r.Timeout))
	}
	return c
}

// unknownTool is the id on the record of a call that names no tool: the name itself can be anything.
const unknownTool = "toolhost.unknown"

// serve takes the call from its admission to its result. If it does not come to its end although its context has
// ended, the call is answered without it.
func (c *call) serve() {
	stop := context.AfterFunc(c.ctx, c.overdue)
	if c.host.o.First != nil {
		c.host.first.Do(c.host.o.First)
	}
	err := c.line(c.ctx)
	if err == nil {
		err = c.run(c.ctx)
	}
	stop()
	if !c.settled.CompareAndSwap(false, true) {
		c.turn.free() // a stuck call keeps its locks until here, and has been answered for
		return
	}
	c.conclude(err)
}

// abandonAfter is how long a call may go on after its context has ended. What is stuck in the kernel, on a dead
// network file system for instance, keeps its locks, but not its caller.
const abandonAfter = 10 * time.Second

const (
	touchAfter = 200 * time.Millisecond // a call that ends is not looked after before
	stuckAfter = 600 * time.Millisecond // where the disk of the session stalls, a call is not waited for longer
)

// overdue sees to it that a call whose context has ended is answered: soon where the disk of the session stalls, on which what
// the call does may wait, too.
func (c *call) overdue() {
	store := c.host.o.Store
	time.AfterFunc(touchAfter, func() {
		if !c.settled.Load() {
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

// abandon concludes a call that is stuck, in its stead. The stuck goroutine goes on with a record that nobody reads.
func (c *call) abandon() {
	if !c.settled.CompareAndSwap(false, true) {
		return
	}
	c.host.mu.Lock()
	held := c.turn
	c.host.mu.Unlock()
	c.host.stays(c)
	if held.place != nil {
		held.place.Withdraw() // a stuck call that does not run holds up no other
	}
	c.mu.Lock()
	c.abandoned = true
	twin := &call{
		host: c.host, req: c.req, batch: c.batch, prev: c.prev, policy: c.policy, ctx: c.ctx, cancel: c.cancel, expire: c.expire,
		done: c.done, tool: c.tool, turn: turn{gate: held.gate, room: held.room}, ended: c.ended, handed: c.handed,
		inv: c.inv, events: slices.Clone(c.events), hooks: c.hooks.forTwin(), steps: c.steps,
	}
	twin.inv.HookRefs = slices.Clone(c.inv.HookRefs)
	twin.inv.StatusTransitions, twin.inv.Phases = slices.Clone(c.inv.StatusTransitions), slices.Clone(c.inv.Phases)
	if c.inv.Scheduler != nil {
		facts := *c.inv.Scheduler
		twin.inv.Scheduler = &facts
	}
	c.mu.Unlock()
	cause := context.Cause(c.ctx)
	twin.fail(agenttool.StatusFailed, agenttool.AsError(cause, agenttool.Canceled))
	twin.conclude(cause)
}

// conclude makes the result and, when it is the call's turn in its batch, hands it over.
func (c *call) conclude(err error) {
	completion := c.finish(err)
	close(c.ended)
	c.expire()
	c.cancel(nil)
	if c.prev != nil {
		c.turn.pass() // a result that waits for its turn does not hold up other calls
		<-c.prev.handed
		c.prev = nil
	}
	c.host.forget(c)
	c.done(completion) // may wait for a client to read: then no more calls begin
	c.turn.pass()
	close(c.handed)
	c.host.running.Done()
}

// line waits for the calls that must succeed first, then for a place among the calls that are worked on.
func (c *call) line(ctx context.Context) error {
	if c.batch != nil || len(c.after) > 0 {
		c.to(agenttool.StatusPlanned, "")
		c.emit(agenttool.EventPlanned, "tool", c.req.Tool)
	}
	for _, d := range c.after {
		c.held = true
		if d.call != nil {
			select {
			case <-d.call.ended:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			d.succeeded = d.call.succeeded()
		}
		if !d.succeeded && (c.batch == nil || c.batch.policy.SiblingFailurePolicy != "ignore") {
			return agenttool.Failure(agenttool.SiblingCanceled, "sibling_error", "call "+d.id+", which must succeed before this one, did not")
		}
	}
	if len(c.after) > 0 { // a call that waits for another takes its turn after that: it must not hold up the calls behind it
		return c.again(ctx)
	}
	return c.enterGate(ctx)
}

// to moves the invocation to a state.
func (c *call) to(s agenttool.InvocationStatus, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv.Status = s
	c.inv.StatusTransitions = append(c.inv.StatusTransitions,
		agenttool.Transition{Status: s, At: agenttool.Timestamp(c.host.o.Now()), Reason: reason})
}

// status returns the state, for others.
func (c *call) status() agenttool.InvocationStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inv.Status
}

// succeeded reports whether what depends on the call may go on. One whose work goes on has done what it was asked for.
func (c *call) succeeded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inv.Status == agenttool.StatusSucceeded || c.inv.Status == agenttool.StatusYielded
}

// emit adds an event to those that the next flush records and tells.
func (c *call) emit(t agenttool.EventType, pairs ...any) {
	e := c.host.journal.event(agenttool.Event{EventType: t, Subject: c.req.name(), InvocationID: c.inv.InvocationID, ToolID: c.inv.ToolID}, pairs...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.abandoned {
		c.events = append(c.events, e)
	}
}

// record writes one event by itself, after those that wait. Where the disk does not answer, it is written and told of later.
func (c *call) record(t agenttool.EventType, pairs ...any) error {
	c.emit(t, pairs...)
	if err := c.flush(); !errors.Is(err, persist.ErrPending) {
		return err
	}
	return nil
}

// flush records the events since the last flush as one group, and then tells of them. It waits for the disk as
// [journal.append] does.
func (c *call) flush() error {
	c.flushing.Lock() // not mu: others look at a call while the disk is slow
	defer c.flushing.Unlock()
	c.mu.Lock()
	events := c.events
	c.events = nil
	c.mu.Unlock()
	if len(events) == 0 {
		return nil
	}
	return c.host.journal.append(false, events...)
}

// readOnly reports whether the call is known to change nothing.
func (c *call) readOnly() bool {
	return c.bound != nil && c.bound.Facts().ReadOnly == agenttool.Yes
}

// progressInterval is the shortest time between two progress records of a call.
const progressInterval = 100 * time.Millisecond

// reporter is the face that a call shows to its tool.
type reporter struct{ c *call }

// Progress implements agenttool.Reporter.
func (r reporter) Progress(p agenttool.Progress) {
	c := r.c
	now := c.host.o.Now()
	c.mu.Lock()
	if c.abandoned || now.Sub(c.lastStep) < progressInterval {
		c.mu.Unlock()
		return
	}
	c.lastStep = now
	c.steps++
	p.SchemaVersion, p.InvocationID, p.Sequence = agenttool.SchemaVersion, c.inv.InvocationID, c.steps
	c.mu.Unlock()
	p.ProgressID = agenttool.ProgressID(c.host.o.IDs.New("prog_", now))
	p.Timestamp = agenttool.Timestamp(now)
	if p.Status == "" {
		p.Status = "running"
	}
	c.emit(agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", p)
	if err := c.flush(); err == nil && c.req.Caller.Progress != nil { // what cannot be recorded is not told
		c.req.Caller.Progress(p)
	}
}

// Payload implements agenttool.Reporter.
func (r reporter) Payload(name, mediaType string) (agenttool.Payload, error) {
	file := name
	if r.c.attempt > 1 {
		file += "-" + strconv.Itoa(r.c.attempt)
	}
	return r.c.host.o.Store.Payload(r.c.inv.InvocationID, file, mediaType, file)
}

// Invocation implements agenttool.Reporter.
func (r reporter) Invocation() agenttool.InvocationID { return r.c.inv.InvocationID }

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
}
