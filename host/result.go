package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/persist"
)

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

// finish maps what happened to the terminal result, keeps and records it (AT-120 … AT-123). It always succeeds:
// what the journal cannot take is still told, and says so.
func (c *call) finish(err error) Completion {
	c.host.stays(c)
	if c.hooks == nil {
		c.turn.free()
	}
	if err != nil {
		c.err = agenttool.AsError(err, agenttool.ExecutionFailed)
		c.settle()
	} else if c.out.Yielded {
		c.to(agenttool.StatusYielded, "the work goes on")
	} else {
		c.to(agenttool.StatusSucceeded, "")
	}
	_ = c.phase(agenttool.PhaseMapResult, func() error { c.mapResult(); return nil })
	_ = c.phase(agenttool.PhasePostHooks, func() error { c.postHooks(); return nil })
	c.turn.free()
	_ = c.phase(agenttool.PhasePersistResult, func() error { c.persistenceHooks(); c.persist(); return nil })
	return c.emitTerminal()
}

// settle moves a call that failed outside the pipeline, while it waited in line, to its last state.
func (c *call) settle() {
	if s := c.status(); s == "" || s == agenttool.StatusPlanned {
		c.fail(agenttool.StatusFailed, c.err)
	}
}

// mapResult makes the result, once (AT-120).
func (c *call) mapResult() {
	now := c.host.o.Now()
	status := resultStatus(c.status(), c.err)
	c.result = agenttool.Result{
		SchemaVersion: agenttool.SchemaVersion, ResultID: agenttool.ResultID(c.host.o.IDs.New("res_", now)),
		InvocationID: c.inv.InvocationID, Status: status, IsError: c.err != nil,
		Content: c.out.Content, UIFacingSummary: c.out.Summary,
		ResourceRefs: c.out.Resources, ArtifactRefs: c.out.Artifacts,
		Error: c.err, AbortReason: abortReason(c.err), RedactionState: "none",
		CreatedAt: agenttool.Timestamp(now),
	}
	if c.out.Structured != nil {
		c.result.StructuredContent = encode(c.out.Structured)
	}
	switch {
	case c.err != nil && len(c.result.Content) == 0:
		c.result.Content = []agenttool.Content{agenttool.Text(explain(c.err))}
	case len(c.result.Content) == 0: // an empty success is told apart from missing output (AT-296, AT-402)
		c.result.Content = []agenttool.Content{agenttool.Text("(the call succeeded and had nothing to say)")}
	}
	if c.result.UIFacingSummary == "" && c.err != nil {
		c.result.UIFacingSummary = c.err.Message
	}
	c.remark()
}

// remark adds what the host knows beside the tool's own words: where the session moved, and who may disturb the call.
func (c *call) remark() {
	if c.moved != nil {
		c.result.Extra = agenttool.Extra{"context_modifiers": encode([]*modifier{c.moved})}
	}
	for _, note := range c.notes() {
		c.result.Content = append(c.result.Content, agenttool.Text(note))
	}
}

func (c *call) notes() []string {
	var notes []string
	if c.moved != nil {
		notes = append(notes, c.moved.note())
	}
	if c.err != nil && c.err.Hint != "" && len(c.out.Content) > 0 {
		notes = append(notes, "["+c.err.Hint+"]")
	}
	if c.feedback != "" {
		notes = append(notes, "[the person who allowed this says: "+c.feedback+"]")
	}
	if jobs := c.disturbers(); len(jobs) > 0 {
		notes = append(notes, "["+disturbance(jobs)+"]")
	}
	return notes
}

// explain says an error to a model: what happened, and how to go on if the message does not say it.
func explain(e *agenttool.Error) string {
	text := fmt.Sprintf("Error (%s): %s", e.Class, e.Message)
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	return text
}

func resultStatus(s agenttool.InvocationStatus, e *agenttool.Error) agenttool.ResultStatus {
	switch {
	case e == nil && s == agenttool.StatusYielded:
		return agenttool.ResultPartialSucceeded
	case e == nil:
		return agenttool.ResultSucceeded
	case s == agenttool.StatusCanceled:
		return agenttool.ResultCanceled
	case s == agenttool.StatusTimedOut || e.Class == agenttool.Timeout:
		return agenttool.ResultTimedOut
	case e.Class == agenttool.ApprovalRejected:
		return agenttool.ResultRejected
	case s == agenttool.StatusDenied:
		return agenttool.ResultDenied
	}
	return agenttool.ResultFailed
}

// maxStructured is the size in bytes above which structured content is kept by reference only.
const maxStructured = 64 << 10

// persist decides where the payload is kept and stores it (AT-122, AT-290 … AT-298).
func (c *call) persist() {
	now := c.host.o.Now()
	text := allText(c.result.Content)
	size := persist.Size{Chars: utf8.RuneCountInString(text), Bytes: int64(len(text)), Persisted: c.out.Persisted != nil}
	verdict := persist.Decide(size, persist.Policy{MaxInlineChars: c.threshold(), NeverPersist: c.neverPersist()})
	c.kept = agenttool.Persistence{
		SchemaVersion: agenttool.SchemaVersion, DecisionID: agenttool.PersistenceID(c.host.o.IDs.New("persist_", now)),
		InvocationID: c.inv.InvocationID, ResultID: c.result.ResultID, Strategy: verdict.Strategy, Threshold: verdict.Threshold,
		OriginalSizeBytes: size.Bytes, RedactionState: "none", Reason: verdict.Reason, CreatedAt: agenttool.Timestamp(now),
	}
	if verdict.Strategy == agenttool.PreviewAndPersist {
		c.keep(text)
	}
	if len(c.result.StructuredContent) > maxStructured {
		c.keepStructured()
	}
	c.result.PersistenceRefs = []string{string(c.kept.DecisionID)}
	c.storeInputs()
}

// keep stores the whole text, unless the tool already did, and leaves a preview in its place.
func (c *call) keep(text string) {
	ref := c.out.Persisted
	if ref != nil {
		c.kept.OriginalSizeBytes = c.out.Bytes
	} else {
		stored, err := c.store("full_output", "text/plain; charset=utf-8", []byte(text))
		note := fmt.Sprintf("[cut; the whole output, %d bytes, is %s: the read tool opens it]", len(text), stored.URI)
		if err != nil {
			c.kept.Strategy, c.kept.Reason = agenttool.DropWithReason, "the session's storage cannot be written: "+err.Error()
			note = fmt.Sprintf("[cut; the rest could not be stored: %v]", err)
		} else {
			ref = &stored
			c.result.ResourceRefs = append(c.result.ResourceRefs, stored)
		}
		blocks := []agenttool.Content{agenttool.Text(persist.Preview(text, c.threshold())), agenttool.Text(note)}
		c.result.Content = append(blocks, withoutText(c.result.Content)...)
	}
	c.kept.PersistedRef = ref
	c.kept.PreviewSizeBytes = int64(len(allText(c.result.Content)))
	c.emit(agenttool.EventResultPersisted, "phase", agenttool.PhasePersistResult, "persistence", c.kept)
}

// keepStructured replaces structured content that is too large by a reference.
func (c *call) keepStructured() {
	ref, err := c.store("structured_content", "application/json", c.result.StructuredContent)
	if err == nil {
		c.result.ResourceRefs = append(c.result.ResourceRefs, ref)
	}
	c.result.StructuredContent = nil
}

func (c *call) threshold() int {
	if c.tool != nil && c.tool.Interface.MaxInlineChars > 0 {
		return c.tool.Interface.MaxInlineChars
	}
	return persist.InlineChars
}

func (c *call) neverPersist() bool {
	return c.tool != nil && c.tool.Interface.PersistencePolicyRef == string(agenttool.NeverPersist)
}

// emitTerminal records the result and the invocation, and hands both over (AT-123).
func (c *call) emitTerminal() Completion {
	c.mu.Lock()
	c.inv.EndedAt = agenttool.Timestamp(c.host.o.Now())
	c.inv.ArtifactRefs = c.result.ArtifactRefs
	c.inv.AbortReason = c.result.AbortReason
	if c.inv.Scheduler != nil {
		c.inv.Scheduler.QueueState = "completed"
		if c.inv.Status == agenttool.StatusYielded {
			c.inv.Scheduler.QueueState = "yielded"
		}
	}
	c.inv.Phases = append(c.inv.Phases, agenttool.PhaseTiming{Phase: agenttool.PhaseEmitTerminal, StartedAt: c.inv.EndedAt})
	status := c.inv.Status
	c.mu.Unlock()
	invocation, result, kept := encode(c.inv), encode(c.result), encode(c.kept)
	c.emit(terminalEvent(status), "phase", agenttool.PhaseEmitTerminal, "status", string(status))
	c.emit(agenttool.EventResultCreated, "phase", agenttool.PhaseEmitTerminal,
		"result", json.RawMessage(result), "invocation", json.RawMessage(invocation), "persistence", json.RawMessage(kept))
	if c.unlogged(c.flush()) {
		result = encode(c.result)
	}
	return Completion{
		Invocation: c.inv, Result: c.result, Persistence: c.kept, Job: jobID(c.out.Job),
		encoded: object("invocation", json.RawMessage(invocation), "result", json.RawMessage(result), "persistence", json.RawMessage(kept)),
	}
}

// unlogged has the result say that it is not in the log, or not yet: each in a field, and the first of several in words. It
// reports whether it does.
func (c *call) unlogged(err error) bool {
	first := c.host.journal.firstOf(err)
	if err == nil {
		return false
	}
	state := "missing"
	if errors.Is(err, persist.ErrPending) {
		state = "pending"
		first = first && c.host.o.Store.Stalled()
	}
	if c.result.Extra == nil {
		c.result.Extra = agenttool.Extra{}
	}
	c.result.Extra["session_log"] = object("state", state, "reason", err.Error())
	if first {
		c.result.Content = append(c.result.Content, agenttool.Text(fmt.Sprintf("[this result is not in the session log, nor are later ones until that is mended: %v]", err)))
	}
	return true
}

func jobID(j agenttool.Job) string {
	if j == nil {
		return ""
	}
	return j.ID()
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

func allText(blocks []agenttool.Content) string {
	if len(blocks) == 1 {
		return blocks[0].Text
	}
	var text string
	for _, b := range blocks {
		if b.Text != "" && text != "" {
			text += "\n"
		}
		text += b.Text
	}
	return text
}

func withoutText(blocks []agenttool.Content) []agenttool.Content {
	var rest []agenttool.Content
	for _, b := range blocks {
		if b.Text == "" {
			rest = append(rest, b)
		}
	}
	return rest
}

// ReadResult returns a page of a payload of this session.
func (h *Host) ReadResult(ref string, offset, limit int64) (persist.Page, error) {
	return h.o.Store.Page(ref, offset, limit)
}
