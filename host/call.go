package host

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/scheduler"
)

// Request asks for one call.
type Request struct {
	ID      string              // the caller's id, unique among live calls; required
	Tool    string              // name or alias
	Input   []byte              // a JSON object; kept byte for byte, and read as package adapt says
	Surface agenttool.SurfaceID // that the call is held to; empty: the session's
	Batch   string              // results of one batch are handed over in the order of their requests
	After   []string            // ids of earlier calls that must succeed first
	Timeout time.Duration       // deadline from admission; 0: none
	Actor   string              // the client, for the record
	Person  bool                // the person of the session asks, at a terminal of their own: to read or end its jobs takes no permission
	Trace   []byte              // a JSON object for the record's telemetry_refs; nil: none
	Mapping []byte              // a JSON object with the native ids of the call, for the record's external_mappings; nil: none
	Caller  Caller              // how the caller hears of it, if not by events
}

// Caller is the other end of one call, where that is not the client of the whole session. The zero value hears nothing
// and answers nothing. Its functions must not block.
type Caller struct {
	CallID string   // the call's id in the caller's protocol, for the record; empty: [Request].ID
	Refs   []string // its threads and groups, for the record's runtime_refs

	// Threads are the thread of the call, and those that it descends from. Rules of a thread count for its calls.
	Threads []string

	Capacity agenttool.Capacity // how much it takes of the result

	// Asked hears the prompts of this call. A caller that sets it answers them, by [Host.Decide], so that they wait for it
	// even if no user is there. over is closed when a prompt needs no answer any more.
	Asked prompt.Listener

	// Progress hears how the call goes on while it runs, at most ten times a second, and how a job ended that it left: its id is
	// the TaskID then, and Status is completed, failed or canceled.
	Progress func(agenttool.Progress)
}

// name is the call's id in the record.
func (r Request) name() string {
	if r.Caller.CallID != "" {
		return r.Caller.CallID
	}
	return r.ID
}

// MaxMapping bounds a mapping, and a trace, in bytes. Their records nest them: readers of JSON give up at 10,000 levels, so that a record
// with a deeper one could not be written, or not be read.
const MaxMapping = 8 << 10

// ErrRequest is wrapped by the errors of requests that were refused before anything was recorded or run.
var ErrRequest = prompt.ErrRefused

// IsRefused reports whether err says that a request was refused before anything happened.
func IsRefused(err error) bool { return errors.Is(err, ErrRequest) }

// ErrBusy is wrapped by the errors of requests that can be sent again when others have ended.
var ErrBusy = errors.New("busy")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRequest}, args...)...)
}

// Completion is how a call ended: the invocation, its one terminal result, and where the payload is kept.
type Completion struct {
	Invocation  agenttool.Invocation
	Result      agenttool.Result
	Persistence agenttool.Persistence
	Job         string // the id of a job that goes on after the call; empty: none

	encoded []byte
}

// MarshalJSON writes {"invocation":…,"result":…,"persistence":…}.
func (c Completion) MarshalJSON() ([]byte, error) {
	if c.encoded != nil {
		return c.encoded, nil
	}
	return object("invocation", c.Invocation, "result", c.Result, "persistence", c.Persistence), nil
}

// call is one call on its way through the pipeline. Its own goroutine changes it, and others read its record, unless a group says
// otherwise.
type call struct {
	// Settled at admission. With these and a fork of its record a call that is stuck is concluded.
	host       *Host
	req        Request
	tool       *entry            // nil: there is none of that name
	surface    agenttool.Surface // that it is held to
	adaptError error             // why the model's input cannot be adapted to the tool's schema
	batch      *batch            // nil: it is in none
	before     <-chan struct{}   // closed when the member of the batch before this one was handed over; nil: it waits for none
	after      []dependency
	done       func(Completion)

	// How long it may run, and whether it has ended.
	ctx        context.Context // ends with the call's cancellation, deadline or the host; owned by this call alone
	cancel     context.CancelCauseFunc
	expire     context.CancelFunc
	ctxEnd     atomic.Int64  // when ctx ended, in nanoseconds since 1970; 0: it has not
	own        ownTime       // for a call without a deadline
	leavesJob  atomic.Bool   // a job goes on after it
	concluding atomic.Bool   // a goroutine has begun to conclude the call
	ended      chan struct{} // closed when the result is known
	handedOver chan struct{} // closed when the result was handed over

	// Its place among the others. live.mu guards it; the call itself reads it freely.
	turn       turn
	queuing    atomic.Pointer[scheduler.Ticket] // its place while it waits for calls before it; nil: it does not
	afterOther bool                             // it waited for another call: the end of input cancels it unless it is read-only
	waiting    bool                             // for a slot, a lock or an answer: likewise
	next       *call                            // the member of the batch behind this one

	// Its place among those that move the session. places.mu guards it; the call itself reads mayMove freely.
	order     int64 // its number in the order of admission
	mayMove   bool  // its tool may move the session
	ranBeside bool  // other calls ran at the same time

	// Its input, and the directory that it is bound in.
	dir   string // where it starts
	input []byte // the model's input, adapted to the tool's schema, or another that a hook or a person made of it
	bound agenttool.Call

	approval approval
	hooks    *hookRunner // nil: none are set
	out      agenttool.Output
	move     *modifier // of the session's directory; nil: none
	rec      *record
}

// dependency is a call that must succeed first: a live one, or the outcome of one that has ended.
type dependency struct {
	id        string
	call      *call
	succeeded bool
}

// turn is a call's place in the order of admission: among the calls that are prepared at once, and among those that wait
// for a slot and for locks. Both are taken together, so that no call waits for one behind it.
type turn struct {
	gate  *scheduler.Ticket
	place *scheduler.Ticket
	room  *scheduler.Ticket // of a call on files, from its start on
}

// enter waits until the call is one of those that are prepared at once.
func (t turn) enter(ctx context.Context) error {
	if t.gate == nil {
		return nil
	}
	return t.gate.Wait(ctx)
}

// free gives the slot and the locks back, or the place in the line.
func (t turn) free() {
	if t.place != nil {
		t.place.Release()
	}
}

// pass gives the place among the prepared calls back, and that among those that hold content.
func (t turn) pass() {
	if t.gate != nil {
		t.gate.Release()
	}
	if t.room != nil {
		t.room.Release()
	}
}

// Invoke admits one call and returns at once. done is called exactly once, from another goroutine, when the call has
// ended and everything before it in its batch has been handed over. An error means that nothing was admitted.
func (h *Host) Invoke(r Request, done func(Completion)) error {
	read := h.registry.adapt(r)
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	if err := h.live.admissible(&h.surfaces, r); err != nil {
		return err
	}
	var b *batch
	if r.Batch != "" {
		b = h.live.join(r.Batch, h.sched, h.o.MaxParallel)
	}
	h.register(r, read, b).start(done)
	return nil
}

// register makes the call known. The caller holds h.live.mu.
func (h *Host) register(r Request, read adapted, b *batch) *call {
	c := newCall(h, r, read, h.rules.Policy().For(r.Caller.Threads))
	if set := h.hooks.Load(); set != nil {
		c.hooks = &hookRunner{host: h, set: set, rec: c.rec, tool: c.tool, name: r.Tool}
	}
	for _, id := range r.After {
		c.after = append(c.after, dependency{id: id, call: h.live.calls[id], succeeded: h.live.ended.succeeded(id)})
	}
	h.live.calls[r.ID] = c
	h.live.input += len(r.Input)
	if b != nil {
		b.add(c)
		c.rec.update(func(inv *agenttool.Invocation) { inv.SchedulerPolicyRef = b.policy.SchedulerPolicyID })
	}
	if len(r.After) == 0 {
		c.takeTurn()
	}
	return c
}

func newCall(h *Host, r Request, read adapted, policy permissions.Policy) *call {
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
	if len(read.changes) > 0 {
		learnSensitive(h.o.Store.Redactor(), tool, read.input)
		inv.Mutations = []agenttool.InputMutation{adaptation(read.changes, agenttool.InputMutation{
			SchemaVersion: agenttool.SchemaVersion, MutationID: agenttool.MutationID(h.o.IDs.New("mut_", now)), InvocationID: inv.InvocationID,
			CreatedAt: inv.CreatedAt,
		})}
	}
	if len(r.Trace) > 0 {
		inv.TelemetryRefs = append(inv.TelemetryRefs, r.Trace)
	}
	if len(r.Mapping) > 0 {
		inv.ExternalMappings = append(inv.ExternalMappings, r.Mapping)
	}
	c := &call{
		host: h, req: r, tool: tool, surface: surface, adaptError: read.err, input: read.input,
		ended: make(chan struct{}), handedOver: make(chan struct{}),
		approval: approval{policy: policy}, rec: newRecord(&h.journal, inv),
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

// start runs the call in its own goroutine. It has ended, for Drain, when its result was handed over.
func (c *call) start(done func(Completion)) {
	c.done = done
	c.host.running.Add(1)
	go c.serve()
}

// runs reports whether the call has no result yet, or has left a job behind.
func (c *call) runs() bool { return c.ctx.Err() == nil || c.leftJob() }

// leftJob reports whether the call has its result, and its command goes on.
func (c *call) leftJob() bool {
	select {
	case <-c.ended:
		return c.leavesJob.Load()
	default:
		return false
	}
}

// listener is the way to a caller that can answer prompts while it waits for the result; nil: there is none.
func (c *call) listener() prompt.Listener {
	if c.leftJob() {
		return nil
	}
	return c.req.Caller.Asked
}

// readOnly reports whether the call is known to change nothing.
func (c *call) readOnly() bool {
	return c.bound != nil && c.bound.Facts().ReadOnly == agenttool.Yes
}

// actsOnJobs reports whether the call needs neither a slot nor a place in line.
func (c *call) actsOnJobs() bool {
	if c.tool == nil {
		return false
	}
	_, ok := c.tool.tool.(agenttool.JobTool)
	return ok
}

// policy is the scheduler's policy that the call runs under.
func (c *call) policy() agenttool.SchedulerPolicy {
	if c.batch != nil {
		return c.batch.policy
	}
	return sessionPolicy(c.host.o.MaxParallel)
}

// situation describes the call's place for hooks.
func (c *call) situation() situation {
	s := situation{dir: c.dir, mode: c.approval.policy.Mode}
	if c.bound != nil {
		s.input = encode(c.bound.Input())
	}
	return s
}
