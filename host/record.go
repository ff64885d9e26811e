package host

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/persist"
)

// record is the record of one call: its invocation, and its events that the journal does not hold yet.
// It is safe for concurrent use.
type record struct {
	writer
	identity

	mu  sync.Mutex
	inv agenttool.Invocation
	inputs
	unwritten
	reporting
	stages
}

// identity names a call.
type identity struct {
	id      agenttool.InvocationID
	tool    agenttool.ToolID
	subject string // the client's id of the call
}

// inputs are the changes of an input.
type inputs struct {
	input    []byte   // the observable input, or the one that a hook made of it
	edits    int      // by people
	changes  []string // of the model's input, in words
	searched bool     // the model's input was searched for secrets
}

// reporting is about the records of progress.
type reporting struct {
	steps    int64 // progress records so far
	lastStep time.Time
	held     []agenttool.Progress // until it is the call's turn in its batch
}

// stages say how far a call came.
type stages struct {
	stage    agenttool.Stage // how far the call came
	canceled string          // the kind of the last request to cancel it; empty: none
}

// unwritten are the events that the journal does not hold yet.
type unwritten struct {
	events  []agenttool.Event // not yet in the journal
	writing writing           // whether its events may be written
	ended   bool              // its result is made: no event follows but those of its end
}

// writer writes groups of events in order.
type writer struct {
	journal  *journal
	flushing sync.Mutex       // orders groups of events in the journal
	written  *persist.Pending // the last group; guarded by flushing
}

// writing says whether the events of a record may be written.
type writing uint8

const (
	notYet    writing = iota // the first ones are missing
	begun                    // yes
	elsewhere                // a fork records instead
)

// The states, phases and events of a call that neither asks nor fails: the room that a record has from the beginning.
const (
	usualStates = 8
	usualPhases = 16
	usualEvents = 8
)

func newRecord(j *journal, inv agenttool.Invocation) *record {
	inv.Status = agenttool.StatusPlanned
	inv.StatusTransitions = append(make([]agenttool.Transition, 0, usualStates), agenttool.Transition{Status: inv.Status, At: inv.CreatedAt})
	inv.Phases = make([]agenttool.PhaseTiming, 0, usualPhases)
	return &record{writer: writer{journal: j}, identity: identity{id: inv.InvocationID, tool: inv.ToolID, subject: inv.NativeCallID}, inv: inv, stages: stages{stage: agenttool.NotStarted}}
}

// fork closes the record and returns a copy, so that another goroutine can conclude a call that is stuck. The copy has the events that are not
// in the journal.
func (r *record) fork() *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, was := r.events, r.writing
	r.writing, r.events = elsewhere, nil
	inv := r.inv
	inv.HookRefs, inv.PermissionDecisionRefs = slices.Clone(inv.HookRefs), slices.Clone(inv.PermissionDecisionRefs)
	inv.PolicyRefs = slices.Clone(inv.PolicyRefs)
	inv.StatusTransitions, inv.Phases = slices.Clone(inv.StatusTransitions), slices.Clone(inv.Phases)
	if inv.Scheduler != nil {
		facts := *inv.Scheduler
		inv.Scheduler = &facts
	}
	return &record{
		writer: writer{journal: r.journal}, identity: r.identity,
		inv: inv, inputs: r.inputs, unwritten: unwritten{events: events, writing: was}, reporting: r.reporting, stages: r.stages,
	}
}

// runs says that the call runs from here on. A later attempt can only widen what an earlier one may have done.
func (r *record) runs(readOnly bool) {
	stage := agenttool.MayHaveChanged
	if readOnly {
		stage = agenttool.OnlyRead
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stage = min(r.stage, stage)
}

// reached is how far the call came.
func (r *record) reached() agenttool.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stage
}

// update changes the invocation.
func (r *record) update(change func(inv *agenttool.Invocation)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.inv)
}

// view returns the invocation as it is now. Referenced values are not copied.
func (r *record) view() agenttool.Invocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inv
}

// queued returns the invocation as it is now, and where in the queue it is.
func (r *record) queued() (inv agenttool.Invocation, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inv.Scheduler != nil {
		state = r.inv.Scheduler.QueueState
	}
	return r.inv, state
}

// to moves the invocation to a state.
func (r *record) to(s agenttool.InvocationStatus, reason string) {
	now := agenttool.Timestamp(r.journal.now())
	r.update(func(inv *agenttool.Invocation) {
		inv.Status = s
		inv.StatusTransitions = append(inv.StatusTransitions, agenttool.Transition{Status: s, At: now, Reason: reason})
	})
}

// fail moves the invocation to its last state: the usual one of the step that failed, unless the error's class says
// that something else happened there.
func (r *record) fail(usual agenttool.InvocationStatus, e *agenttool.Error) {
	state, listed := stateOf[e.Class]
	switch {
	case !listed, usual == agenttool.StatusBlocked && state == agenttool.StatusDenied:
		state = usual
	case usual == agenttool.StatusFailed && state == agenttool.StatusValidationFailed, usual == agenttool.StatusFailed && state == agenttool.StatusDenied:
		state = usual // a Run that finds its input wrong has run
	}
	r.to(state, e.Code)
}

// stateOf is the state that a class of error leads to wherever it comes from.
var stateOf = map[agenttool.ErrorClass]agenttool.InvocationStatus{
	agenttool.Canceled: agenttool.StatusCanceled,

	agenttool.StreamingFallbackDiscarded: agenttool.StatusCanceled,
	agenttool.SiblingCanceled:            agenttool.StatusCanceled,
	agenttool.Timeout:                    agenttool.StatusTimedOut,
	agenttool.UnknownTool:                agenttool.StatusFailed,
	agenttool.DependencyUnavailable:      agenttool.StatusFailed,
	agenttool.ExecutionFailed:            agenttool.StatusFailed,
	agenttool.SchemaValidationFailed:     agenttool.StatusSchemaParseFailed,
	agenttool.InvalidArguments:           agenttool.StatusValidationFailed,
	agenttool.PermissionDenied:           agenttool.StatusDenied,
	agenttool.ApprovalRejected:           agenttool.StatusDenied,
}

// status returns the state.
func (r *record) status() agenttool.InvocationStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inv.Status
}

// succeeded reports whether calls that depend on this one may go on. A call whose job goes on has succeeded.
func (r *record) succeeded() bool {
	s := r.status()
	return s == agenttool.StatusSucceeded || s == agenttool.StatusYielded
}

// timed adds a phase that ended now.
func (r *record) timed(p agenttool.Phase, start time.Time, err error) {
	timing := agenttool.PhaseTiming{Phase: p, StartedAt: agenttool.Timestamp(start), DurationUS: r.journal.now().Sub(start).Microseconds()}
	if err != nil {
		timing.Outcome = agenttool.AsError(err, agenttool.ExecutionFailed).Code
	}
	r.update(func(inv *agenttool.Invocation) { inv.Phases = append(inv.Phases, timing) })
}

// phase runs one phase and records how long it took. A panic in it is an error of this call, which log gets, and not the end of all others.
func (r *record) phase(p agenttool.Phase, log func(string), do func() error) error {
	start := r.journal.now()
	err := guarded(r, log, do)
	r.timed(p, start, err)
	return err
}

func guarded(rec *record, log func(string), do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if log != nil {
				log(fmt.Sprintf("panic in %s (%s): %v\n%s", rec.tool, rec.id, p, debug.Stack()))
			}
			err = agenttool.Failure(agenttool.ExecutionFailed, "panic", "toolhost failed inside; this is a bug in toolhost, not in the call")
		}
	}()
	return do()
}

// event makes an event of the call.
func (r *record) event(t agenttool.EventType, pairs ...any) agenttool.Event {
	return r.journal.event(agenttool.Event{EventType: t, Subject: r.subject, InvocationID: r.id, ToolID: r.tool}, pairs...)
}

// emit adds an event to those that the next flush writes and sends.
func (r *record) emit(t agenttool.EventType, pairs ...any) {
	e := r.event(t, pairs...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == elsewhere {
		return
	}
	if r.events == nil {
		r.events = make([]agenttool.Event, 0, usualEvents)
	}
	r.events = append(r.events, e)
}

// emitIn is emit for an event that is true in one state of the call alone. It reports whether the call is in it.
func (r *record) emitIn(in agenttool.InvocationStatus, t agenttool.EventType, pairs ...any) bool {
	e := r.event(t, pairs...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == elsewhere || r.ended || r.inv.Status != in {
		return false
	}
	r.events = append(r.events, e)
	return true
}

// told reports whether the caller heard of progress before the call runs.
func (r *record) told() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steps > 0
}

// write emits one event and flushes. Where the disk does not answer, the event is written and sent later.
func (r *record) write(t agenttool.EventType, pairs ...any) error {
	r.emit(t, pairs...)
	if err := r.flush(); !errors.Is(err, persist.ErrPending) {
		return err
	}
	return nil
}

// flush writes the events since the last flush as one group, and then sends them. It waits for the disk as
// [journal.append] does.
func (r *record) flush() error {
	p := r.push()
	if p == nil {
		return nil
	}
	return r.journal.await(p)
}

// push is flush for a caller that does not wait. It returns the last group of events, nil if there was none.
func (r *record) push() *persist.Pending {
	r.flushing.Lock() // not mu: others look at a record while events are queued
	defer r.flushing.Unlock()
	events := r.take()
	if len(events) > 0 {
		r.written = r.journal.submit(false, events...)
	}
	return r.written
}

// take takes the events that are to be written now.
func (r *record) take() []agenttool.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == notYet {
		return nil
	}
	events := r.events
	r.events = nil
	return events
}

// progressInterval is the shortest time between two progress records that a tool reports.
const progressInterval = 100 * time.Millisecond

// due reports whether a tool may report progress now, and counts the time from here if it may.
func (r *record) due() bool {
	now := r.journal.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == elsewhere || r.ended || now.Sub(r.lastStep) < progressInterval {
		return false
	}
	r.lastStep = now
	return true
}

// step numbers a progress record and completes it.
func (r *record) step(p agenttool.Progress) agenttool.Progress {
	now := r.journal.now()
	r.mu.Lock()
	r.steps++
	p.Sequence = r.steps
	r.mu.Unlock()
	p.SchemaVersion, p.InvocationID = agenttool.SchemaVersion, r.id
	p.ProgressID, p.Timestamp = agenttool.ProgressID(r.journal.ids.New("prog_", now)), agenttool.Timestamp(now)
	p.Status = cmp.Or(p.Status, "running")
	return p
}

// maxHeld is how many progress records wait for a call's turn. Older ones are dropped: each says all that the ones before it say.
const maxHeld = 100

// hold keeps a progress record until before is closed, and reports whether it did.
func (r *record) hold(p agenttool.Progress, before <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-before:
		return false
	default:
	}
	if before == nil {
		return false
	}
	if len(r.held) == maxHeld {
		r.held = slices.Delete(r.held, 0, 1)
	}
	r.held = append(r.held, p)
	return true
}

// unhold takes the progress records that waited.
func (r *record) unhold() []agenttool.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.held
	r.held = nil
	return steps
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

// finishing says that no event may follow but those of the end. It returns the kind of the last request to cancel the call.
func (r *record) finishing() (canceled string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.canceled
}

// decided refers to a decision about the call, and to its rules.
func (r *record) decided(d agenttool.Decision) {
	r.update(func(inv *agenttool.Invocation) {
		inv.PermissionDecisionRefs = append(inv.PermissionDecisionRefs, string(d.DecisionID))
		for _, rule := range d.RuleRefs {
			if !slices.Contains(inv.PolicyRefs, rule) {
				inv.PolicyRefs = append(inv.PolicyRefs, rule)
			}
		}
	})
}

// evidence are the ids of the record that explains an error of a class: the last decision, or the last hook.
func (r *record) evidence(class agenttool.ErrorClass) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var refs []string
	switch class {
	case agenttool.PermissionDenied, agenttool.ApprovalRejected:
		refs = r.inv.PermissionDecisionRefs
	case agenttool.HookBlocked:
		refs = r.inv.HookRefs
	}
	return slices.Clone(refs[max(0, len(refs)-1):])
}

// seen is the input as hooks and people saw it last.
func (r *record) seen() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.input
}

// noticeable is how long a call waits until its caller hears of it. Shorter waits are not worth a record.
const noticeable = time.Second

// announceWait sends progress to the caller if the call is still in that state after a noticeable time. stop cancels this.
func announceWait(c *call, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) (stop func() bool) {
	rec := c.rec
	return time.AfterFunc(noticeable, func() { says(c, rec, in, phase, p) }).Stop
}

// says records progress of the host itself, and sends it to the caller, if the call is in that state. In a batch with ordered progress it does
// nothing: the wait would be over before the progress has its turn.
func says(c *call, rec *record, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) {
	if c.batch.ordered() {
		return
	}
	p = rec.step(p)
	if rec.emitIn(in, agenttool.EventProgress, "phase", phase, "progress", p) && rec.flush() == nil && c.req.Caller.Progress != nil {
		c.req.Caller.Progress(p)
	}
}
