package host

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// call is one call on its way through the pipeline. Its own goroutine changes it; others read its record.
type call struct {
	host    *Host
	req     Request
	tool    *entry            // nil: there is none of that name
	surface agenttool.Surface // that it is held to
	batch   *batch
	before  <-chan struct{} // closed when the member of the batch before this one was handed over; nil: it waits for none
	after   []dependency
	done    func(Completion)

	lifetime
	standing

	dir   string    // the directory where it starts
	moved *modifier // of the session's directory; nil: none

	input    []byte // to be bound: the model's input, or another that a hook or a person made of it
	bound    agenttool.Call
	out      agenttool.Output
	approval approval
	hooks    *hookRunner // nil: none are set
	rec      *record
}

// lifetime is how long a call may run, and whether it has ended.
type lifetime struct {
	ctx      context.Context // ends with the call's cancellation, deadline or the host; owned by this call alone
	cancel   context.CancelCauseFunc
	expire   context.CancelFunc
	followed atomic.Bool   // it leaves a job behind
	settled  atomic.Bool   // a goroutine has begun to conclude the call
	ended    chan struct{} // closed when the result is known
	handed   chan struct{} // closed when the result was handed over
}

// standing is a call's place among the others. live.mu guards it, but for order and others, which places.mu guards. The call itself reads it freely.
type standing struct {
	order    int64 // its number in the order of admission
	turn     turn
	held     bool  // it waited for another call: the end of input cancels it unless it is read-only
	waiting  bool  // for a slot, a lock or an answer: likewise
	declared bool  // its tool may move the session
	next     *call // the member of the batch behind this one
	others   bool  // other calls ran at the same time
}

// dependency is a call that must succeed first: a live one, or the outcome of one that has ended.
type dependency struct {
	id        string
	call      *call
	succeeded bool
}

func newCall(h *Host, r Request, policy permissions.Policy) *call {
	now := h.o.Now()
	surface, _ := h.surfaces.of(r.Surface) // admission has refused unknown ones
	inv := agenttool.Invocation{
		SchemaVersion: agenttool.SchemaVersion,
		InvocationID:  agenttool.InvocationID(h.o.IDs.New("inv_", now)),
		ToolID:        unknownTool,
		SurfaceID:     surface.SurfaceID,
		NativeCallID:  r.name(),
		Inputs:        agenttool.Inputs{ModelInput: r.Input},
		InvocationRefs: agenttool.InvocationRefs{
			ActorRef: r.Actor, RuntimeRefs: append([]string{string(h.o.Session)}, r.Caller.Refs...), SchedulerPolicyRef: schedulerPolicyID,
		},
		CreatedAt: agenttool.Timestamp(now),
	}
	tool := h.registry.names[r.Tool]
	if tool != nil {
		inv.ToolID = tool.Declaration.ToolID
		learnSensitive(h.o.Store.Redactor(), tool, r.Input)
	}
	if len(r.Trace) > 0 {
		inv.TelemetryRefs = append(inv.TelemetryRefs, r.Trace)
	}
	if len(r.Mapping) > 0 {
		inv.ExternalMappings = append(inv.ExternalMappings, r.Mapping)
	}
	c := &call{
		host: h, req: r, tool: tool, surface: surface, input: r.Bound(), rec: newRecord(&h.journal, inv),
		lifetime: lifetime{ended: make(chan struct{}), handed: make(chan struct{})},
	}
	c.approval = approval{c: c, policy: policy}
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
	c.admitted()
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
	c.conclude(c.ending(), err)
}

// admitted puts the call into the journal, with its input and the records that it refers to, before anything can happen to it (AT-011).
// The record survives the host.
func (c *call) admitted() {
	c.rec.storeLarge()
	c.rec.begin(c)
	c.rec.push()
}

// runs reports whether the call has no result yet, or has left a job behind.
func (c *call) runs() bool { return c.ctx.Err() == nil || c.leftJob() }

// leftJob reports whether the call has its result, and its command goes on.
func (c *call) leftJob() bool {
	select {
	case <-c.ended:
		return c.followed.Load()
	default:
		return false
	}
}

// listener is the way to the caller, by which it can answer prompts while it waits for the result; nil: there is none.
func (c *call) listener() prompt.Listener {
	if c.leftJob() {
		return nil
	}
	return c.req.Caller.Asked
}

// ending is how a call ends that came to its end.
func (c *call) ending() *ending {
	e := &ending{c: c, rec: c.rec, hooks: c.hooks, turn: c.turn, outcome: outcome{out: c.out, moved: c.moved}, consent: c.approval.consent}
	if c.hooks != nil {
		e.at = c.situation
	}
	if c.moved != nil {
		e.notes = append(e.notes, c.moved.note())
	}
	return e
}

// abandonAfter is how long a call may go on after its context has ended. A call that is stuck in the kernel, for instance on a dead
// network file system, keeps its locks, but its caller gets an answer.
const abandonAfter = 10 * time.Second

const (
	touchAfter = 200 * time.Millisecond // a call that ends is not looked after before
	stuckAfter = 600 * time.Millisecond // where the disk of the session stalls, a call is not waited for longer
)

// overdue makes sure that a call whose context has ended is answered: soon if the disk of the session stalls, since the call may
// wait for the same disk.
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

// abandon concludes a call that is stuck. The stuck goroutine goes on with a record that is not used any more.
func (c *call) abandon() {
	if !c.settled.CompareAndSwap(false, true) {
		return
	}
	c.host.live.mu.Lock()
	held := c.turn
	c.host.live.mu.Unlock()
	c.host.places.stays(c)
	if held.place != nil {
		held.place.Withdraw() // a stuck call that does not run holds up no other
	}
	rec, cause := c.rec.fork(), context.Cause(c.ctx)
	rec.begin(c)
	rec.fail(agenttool.StatusFailed, agenttool.AsError(cause, agenttool.Canceled))
	c.conclude(&ending{
		c: c, rec: rec, outcome: outcome{stuck: true}, hooks: c.hooks.fork(rec), turn: turn{gate: held.gate, room: held.room}, at: func() situation { return situation{mode: c.host.Mode()} },
	}, cause)
}

// conclude makes the result and, when it is the call's turn in its batch, hands it over.
func (c *call) conclude(e *ending, err error) {
	completion := e.finish(err)
	close(c.ended)
	c.expire()
	c.cancel(nil)
	c.awaitTurn(e.turn)
	c.host.forget(c, e.rec.succeeded())
	c.done(completion) // may wait for a client to read: then no more calls begin
	e.turn.pass()
	if next := c.host.live.after(c); next != nil && next.batch.ordered() {
		next.release(next.rec) // while it still waits: its result must come after its progress
	}
	close(c.handed)
	c.host.running.Done()
}

// awaitTurn waits until the calls before it in its batch have been handed over.
func (c *call) awaitTurn(t turn) {
	if c.before != nil {
		t.pass() // a result that waits for its turn does not hold up other calls
		<-c.before
	}
}

// line waits for the calls that must succeed first, then for a place among the calls that are worked on.
func (c *call) line(ctx context.Context) error {
	for _, d := range c.after {
		c.held = true
		if d.call != nil {
			select {
			case <-d.call.ended:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			d.succeeded = d.call.rec.succeeded()
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

// readOnly reports whether the call is known to change nothing.
func (c *call) readOnly() bool {
	return c.bound != nil && c.bound.Facts().ReadOnly == agenttool.Yes
}

// situation describes the call's place for hooks.
func (c *call) situation() situation {
	s := situation{dir: c.dir, mode: c.approval.policy.Mode}
	if c.bound != nil {
		s.input = encode(c.bound.Input())
	}
	return s
}

// reporter is the face that a call shows to its tool.
type reporter struct{ c *call }

// Progress implements agenttool.Reporter.
func (r reporter) Progress(p agenttool.Progress) {
	rec := r.c.rec
	if !rec.due() {
		return
	}
	p = rec.step(p)
	if r.c.batch.ordered() {
		if rec.hold(p, r.c.before) {
			return
		}
		r.c.release(rec)
	}
	r.c.progressed(rec, p)
}

// progressed writes progress and sends it. Progress that is not recorded is not sent.
func (c *call) progressed(rec *record, steps ...agenttool.Progress) {
	for _, p := range steps {
		rec.emit(agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", p)
	}
	if err := rec.flush(); err != nil || c.req.Caller.Progress == nil {
		return
	}
	for _, p := range steps {
		c.req.Caller.Progress(p)
	}
}

// release writes and sends progress that waited for the call's turn in its batch.
func (c *call) release(rec *record) {
	if steps := rec.unhold(); len(steps) > 0 {
		c.progressed(rec, steps...)
	}
}

// Payload implements agenttool.Reporter.
func (r reporter) Payload(name, mediaType string) (agenttool.Payload, error) {
	file := name
	if r.c.approval.attempt > 1 {
		file += "-" + strconv.Itoa(r.c.approval.attempt)
	}
	return r.c.host.o.Store.Payload(r.c.rec.id, file, mediaType, file)
}

// Invocation implements agenttool.Reporter.
func (r reporter) Invocation() agenttool.InvocationID { return r.c.rec.id }

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
