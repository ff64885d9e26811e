package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/persist"
)

// finish maps what happened to the terminal result, keeps and records it (AT-120 … AT-123). It always succeeds: a result that the journal
// cannot hold is delivered as well, and says so.
func (e *ending) finish(err error) Completion {
	e.c.host.places.stays(e.c)
	if !e.out.Yielded {
		e.c.host.rules.shut(e.rec.id, e.opened)
	}
	if e.hooks == nil && e.out.Shown == nil {
		e.turn.free()
	}
	e.result.ResultID = agenttool.ResultID(e.c.host.o.IDs.New("res_", e.c.host.o.Now()))
	if err != nil {
		e.err = agenttool.AsError(err, agenttool.ExecutionFailed).At(e.rec.reached())
		e.err.EvidenceRefs = e.rec.evidence(e.err.Class)
		if e.stuck && e.rec.reached() != agenttool.NotStarted {
			e.err.Hint = "It did not stop, and may still run. Look before you make this call again."
		}
		e.settle()
	} else if e.out.Yielded {
		e.yields()
	} else {
		e.rec.to(agenttool.StatusSucceeded, "")
	}
	e.phase(agenttool.PhaseMapResult, e.mapResult)
	e.phase(agenttool.PhasePostHooks, e.postHooks)
	if e.hooks != nil {
		e.turn.free()
	}
	e.phase(agenttool.PhasePersistResult, func() { e.persistenceHooks(); e.persist(); link(e); redactResult(e); e.shown() })
	e.turn.free()
	return e.emitTerminal()
}

// shown tells the tool which content reaches the caller.
func (e *ending) shown() {
	if e.out.Shown != nil && e.result.Status != agenttool.ResultCanceled && e.result.Status != agenttool.ResultDiscarded {
		e.out.Shown(e.result.Content)
	}
}

// yields moves a call that is answered before its work is done to its last state, and tells its caller whether the work goes on or waits.
func (e *ending) yields() {
	p := agenttool.Progress{Status: "backgrounded", Message: e.out.Summary, TaskID: jobID(e.out.Job)}
	if e.out.Bytes > 0 {
		e.rec.to(agenttool.StatusPartialResult, "the result has the output so far")
		part := agenttool.Progress{
			Status: "partial_result", TaskID: p.TaskID, BytesRead: e.out.Bytes, PartialResultRefs: []string{string(e.result.ResultID)},
			Extra: agenttool.Extra{"from": encode(0), "to": encode(e.out.Bytes)},
		}
		says(e.c, e.rec, agenttool.StatusPartialResult, agenttool.PhaseExecute, part)
	}
	if e.out.NeedsInput {
		p.Status = "waiting_for_input"
		e.rec.to(agenttool.StatusNeedsInput, "")
	}
	e.rec.to(agenttool.StatusYielded, "the work goes on")
	says(e.c, e.rec, agenttool.StatusYielded, agenttool.PhaseExecute, p)
}

// phase runs one phase and records how long it took.
func (e *ending) phase(p agenttool.Phase, do func()) {
	_ = e.rec.phase(p, e.c.host.o.PanicLog, func() error { do(); return nil })
}

// settle moves a call that failed outside the pipeline, while it waited in line, to its last state.
func (e *ending) settle() {
	if e.rec.status() == agenttool.StatusPlanned {
		e.rec.fail(agenttool.StatusFailed, e.err)
	}
}

// maxStructured is the size in bytes above which structured content is kept by reference only.
const maxStructured = 64 << 10

// persist decides where the payload is kept and stores it (AT-122, AT-290 … AT-298).
func (e *ending) persist() {
	now := e.c.host.o.Now()
	takes := e.c.req.Caller.Capacity
	text := allText(e.result.Content)
	shown := text
	if takes != (agenttool.Capacity{}) {
		shown = withDiffs(e.result.Content)
	}
	size := persist.Size{
		Chars: utf8.RuneCountInString(text), Text: len(shown), Lines: strings.Count(shown, "\n") + 1, Bytes: int64(len(text)) + dataSize(e.result.Content),
		Persisted: e.out.Persisted != nil,
	}
	verdict := persist.Decide(size, persist.Policy{MaxInlineChars: e.threshold(), Caller: takes, NeverPersist: e.neverPersist()})
	e.kept = agenttool.Persistence{
		SchemaVersion: agenttool.SchemaVersion, DecisionID: agenttool.PersistenceID(e.c.host.o.IDs.New("persist_", now)),
		InvocationID: e.rec.id, ResultID: e.result.ResultID, Strategy: verdict.Strategy, Threshold: verdict.Threshold,
		OriginalSizeBytes: contentSize(e.result.Content), RedactionState: "none", Reason: verdict.Reason, CreatedAt: agenttool.Timestamp(now),
	}
	keepLargeData(e, verdict.Strategy)
	if verdict.Strategy == agenttool.PreviewAndPersist {
		e.keep(shown, e.out.Persisted == nil || !takes.Holds(size.Text, size.Lines))
	}
	if len(e.result.StructuredContent) > maxStructured {
		e.keepStructured()
	}
	e.result.PersistenceRefs = []string{string(e.kept.DecisionID)}
	e.rec.storeLarge()
}

// keep stores the whole text, unless the tool already did. If cut is set, a preview takes the place of the text.
func (e *ending) keep(text string, cut bool) {
	ref := e.out.Persisted
	if ref != nil {
		e.kept.OriginalSizeBytes = e.out.Bytes
	} else {
		ref = e.storeWhole(text)
	}
	if cut {
		e.cut(text, ref)
	}
	e.kept.PersistedRef = ref
	if ref != nil && e.c.host.o.Store.Redacted(ref.ID) {
		e.kept.RedactionState = "redacted"
	}
	e.kept.PreviewSizeBytes = contentSize(e.result.Content)
	e.rec.emit(agenttool.EventResultPersisted, "phase", agenttool.PhasePersistResult, "persistence", e.kept)
}

// storeWhole stores the whole text of the result. It returns nil if that fails.
func (e *ending) storeWhole(text string) *agenttool.Ref {
	stored, err := e.rec.store("full_output", "text/plain; charset=utf-8", []byte(text))
	if err != nil {
		e.kept.Strategy, e.kept.Reason = agenttool.DropWithReason, "the session's storage cannot be written: "+err.Error()
		return nil
	}
	stored.SizeBytes = max(stored.SizeBytes, int64(len(text)))
	e.result.ResourceRefs = append(e.result.ResourceRefs, stored)
	return &stored
}

// cut leaves the beginning and the end of the text in the result, and says where all of it is.
func (e *ending) cut(text string, ref *agenttool.Ref) {
	note := "[cut; the rest could not be stored: " + e.kept.Reason + "]"
	if ref != nil {
		note = fmt.Sprintf("[cut; the whole output, %d bytes, is %s: the read tool opens it]", max(ref.SizeBytes, int64(len(text))), ref.URI)
	}
	extent := persist.Extent{Chars: e.threshold()}
	extent.Bytes, extent.Lines = e.c.req.Caller.Capacity.Page(0, 0)
	blocks := []agenttool.Content{agenttool.Text(persist.Preview(text, extent)), agenttool.Text(note)}
	if ref != nil {
		blocks = append(blocks, agenttool.Content{Type: "persisted_output_ref", URI: ref.URI, Name: ref.Relation, MediaType: ref.MediaType})
	}
	rest := withoutText(e.result.Content)
	if e.c.req.Caller.Capacity != (agenttool.Capacity{}) {
		rest = slices.DeleteFunc(rest, func(b agenttool.Content) bool { return b.Diff != "" })
	}
	e.result.Content = append(blocks, rest...)
}

// keepStructured replaces structured content that is too large by a reference.
func (e *ending) keepStructured() {
	ref, err := e.rec.store("structured_content", "application/json", e.result.StructuredContent)
	if err == nil {
		e.result.ResourceRefs = append(e.result.ResourceRefs, ref)
	}
	e.result.StructuredContent = nil
}

func (e *ending) threshold() int {
	if e.c.tool != nil && e.c.tool.Interface.MaxInlineChars > 0 {
		return e.c.tool.Interface.MaxInlineChars
	}
	return persist.InlineChars
}

func (e *ending) neverPersist() bool {
	return e.c.tool != nil && e.c.tool.Interface.PersistencePolicyRef == string(agenttool.NeverPersist)
}

// emitTerminal records the result and the invocation, and hands both over (AT-123).
func (e *ending) emitTerminal() Completion {
	if e.c.batch.ordered() {
		e.c.awaitTurn(e.turn)
		e.c.release(e.rec)
	}
	now, stage := agenttool.Timestamp(e.c.host.o.Now()), e.rec.reached()
	if kind := e.rec.finishing(); kind != "" && (e.stuck || e.rec.status() != agenttool.StatusCanceled) {
		e.rec.emit(agenttool.EventCancelFailed, "kind", kind, "status", string(e.rec.status()), "may_still_run", e.stuck)
	}
	e.rec.update(func(inv *agenttool.Invocation) {
		inv.EndedAt, inv.ArtifactRefs, inv.AbortReason = now, e.result.ArtifactRefs, e.result.AbortReason
		if inv.Scheduler != nil {
			inv.Scheduler.QueueState = queueState(inv.Status, stage)
		}
		inv.Phases = append(inv.Phases, agenttool.PhaseTiming{Phase: agenttool.PhaseEmitTerminal, StartedAt: now})
	})
	inv := e.rec.view()
	invocation, result, kept := encode(inv), encode(e.result), encode(e.kept)
	if inv.Status == agenttool.StatusYielded && e.out.Bytes > 0 {
		e.rec.emit(agenttool.EventPartialResult, "phase", agenttool.PhaseEmitTerminal, "task_id", jobID(e.out.Job),
			"from", 0, "to", e.out.Bytes, "partial_result_refs", []string{string(e.result.ResultID)})
	}
	e.rec.emit(terminalEvent(inv.Status), "phase", agenttool.PhaseEmitTerminal, "status", string(inv.Status))
	e.rec.emit(agenttool.EventResultCreated, "phase", agenttool.PhaseEmitTerminal,
		"result", json.RawMessage(result), "invocation", json.RawMessage(invocation), "persistence", json.RawMessage(kept))
	if e.unlogged(e.rec.flush()) {
		result = encode(e.result)
	}
	return Completion{
		Invocation: inv, Result: e.result, Persistence: e.kept, Job: jobID(e.out.Job), Background: e.out.Background,
		encoded: object("invocation", json.RawMessage(invocation), "result", json.RawMessage(result), "persistence", json.RawMessage(kept)),
	}
}

// queueState is the last state in the queue of a call that ends (AT-199 … AT-201).
func queueState(s agenttool.InvocationStatus, stage agenttool.Stage) string {
	switch {
	case s == agenttool.StatusYielded:
		return "yielded"
	case stage == agenttool.NotStarted:
		return "discarded"
	}
	return "completed"
}

// unlogged has the result say that it is not in the log, or not yet: each in a field, and the first of several in words. It
// reports whether it does.
func (e *ending) unlogged(err error) bool {
	first := e.c.host.journal.firstOf(err)
	if err == nil {
		return false
	}
	state := "missing"
	if errors.Is(err, persist.ErrPending) {
		state = "pending"
		first = first && e.c.host.o.Store.Stalled()
	}
	if e.result.Extra == nil {
		e.result.Extra = agenttool.Extra{}
	}
	e.result.Extra["session_log"] = object("state", state, "reason", err.Error())
	if first {
		e.result.Content = append(e.result.Content, agenttool.Text(fmt.Sprintf("[this result is not in the session log, nor are later ones until that is mended: %v]", err)))
	}
	return true
}

// terminalEvent is the class of event that ends a call in that state (X11: the states without one end as failed).
func terminalEvent(s agenttool.InvocationStatus) agenttool.EventType {
	switch s {
	case agenttool.StatusSucceeded:
		return agenttool.EventSucceeded
	case agenttool.StatusYielded:
		return agenttool.EventYielded
	case agenttool.StatusCanceled:
		return agenttool.EventCanceled
	case agenttool.StatusTimedOut:
		return agenttool.EventTimedOut
	}
	return agenttool.EventFailed
}
