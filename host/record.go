package host

import (
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
	journal *journal
	id      agenttool.InvocationID
	tool    agenttool.ToolID
	subject string // the client's id of the call

	flushing sync.Mutex       // orders groups of events in the journal
	last     *persist.Pending // the last group; guarded by flushing

	mu       sync.Mutex // guards what follows
	inv      agenttool.Invocation
	stage    agenttool.Stage // how far the call came
	canceled string          // the kind of the last request to cancel it; empty: none

	// Its events that the journal does not hold yet.
	events  []agenttool.Event
	writing writing // whether they may be written
	ended   bool    // its result is made: no event follows but those of its end

	// The changes of its input.
	input    []byte   // the observable input, or the one that a hook made of it
	edits    int      // by people
	changes  []string // of the model's input, in words
	searched bool     // the model's input was searched for secrets

	// Its progress.
	steps    int64 // records so far
	lastStep time.Time
	held     []agenttool.Progress // until it is the call's turn in its batch
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
	return &record{journal: j, id: inv.InvocationID, tool: inv.ToolID, subject: inv.NativeCallID, inv: inv, stage: agenttool.NotStarted}
}

// fork closes the record and returns a copy, so that another goroutine can conclude a call that is stuck. The copy has the events
// that are not in the journal.
func (r *record) fork() *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	inv := r.inv
	inv.HookRefs, inv.PermissionDecisionRefs = slices.Clone(inv.HookRefs), slices.Clone(inv.PermissionDecisionRefs)
	inv.PolicyRefs = slices.Clone(inv.PolicyRefs)
	inv.StatusTransitions, inv.Phases = slices.Clone(inv.StatusTransitions), slices.Clone(inv.Phases)
	if inv.Scheduler != nil {
		facts := *inv.Scheduler
		inv.Scheduler = &facts
	}
	fork := &record{
		journal: r.journal, id: r.id, tool: r.tool, subject: r.subject, inv: inv, stage: r.stage, canceled: r.canceled,
		events: r.events, writing: r.writing, ended: r.ended, input: r.input, edits: r.edits, changes: r.changes, searched: r.searched,
		steps: r.steps, lastStep: r.lastStep, held: r.held,
	}
	r.writing, r.events = elsewhere, nil
	return fork
}

// begin puts the first events of the call, after the records that it refers to, before those that came meanwhile, such as a request
// to cancel it. Only the first begin has an effect.
func (r *record) begin(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing != notYet {
		return
	}
	planned := r.event(agenttool.EventPlanned, "tool", c.req.Tool, "invocation", r.inv)
	r.writing, r.events = begun, append(append(r.journal.refers(c), planned), r.events...)
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
	case usual == agenttool.StatusFailed && (state == agenttool.StatusValidationFailed || state == agenttool.StatusDenied):
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

// phase runs one phase and records how long it took. A panic in it is an error of this call, which log gets, and not the end of all others.
func (r *record) phase(p agenttool.Phase, log func(string), do func() error) error {
	start := r.journal.now()
	err := guarded(r, log, do)
	timing := agenttool.PhaseTiming{Phase: p, StartedAt: agenttool.Timestamp(start), DurationUS: r.journal.now().Sub(start).Microseconds()}
	if err != nil {
		timing.Outcome = agenttool.AsError(err, agenttool.ExecutionFailed).Code
	}
	r.update(func(inv *agenttool.Invocation) { inv.Phases = append(inv.Phases, timing) })
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
	r.mu.Lock()
	var events []agenttool.Event
	if r.writing != notYet {
		events, r.events = r.events, nil
	}
	r.mu.Unlock()
	if len(events) > 0 {
		r.last = r.journal.submit(false, events...)
	}
	return r.last
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
