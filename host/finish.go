package host

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

// ending is the last stage of a call: it makes the result from the tool's output, or from the error. Of the call it uses only
// fields that never change, since the call's own goroutine may be stuck and go on later.
type ending struct {
	c     *call
	rec   *record
	hooks *hookRunner      // nil: none are set
	turn  turn             // given back at the end
	at    func() situation // for hooks

	// The state of the call at its end.
	stuck   bool // the call did not come to its end, and may still run
	out     agenttool.Output
	err     *agenttool.Error // nil: it succeeded
	move    *modifier        // of the session's directory; nil: none
	notes   []string         // of the host, for the model
	consent consent

	result agenttool.Result
	kept   agenttool.Persistence // where its payload is
}

// finish maps what happened to the terminal result, keeps and records it (AT-120 … AT-123). It always succeeds: a result that the journal
// cannot hold is delivered as well, and says so.
func (e *ending) finish(err error) Completion {
	e.c.host.places.stays(e.c)
	if !e.out.Yielded {
		e.c.host.rules.shut(e.rec.id, e.consent.opens)
	}
	if !needsLocks(e.hooks, e.out) {
		e.turn.free()
	}
	e.result.ResultID = agenttool.ResultID(e.c.host.o.IDs.New("res_", e.c.host.o.Now()))
	switch {
	case err != nil:
		e.failed(err)
	case e.out.Yielded:
		e.yields()
	default:
		e.rec.to(agenttool.StatusSucceeded, "")
	}
	e.phase(agenttool.PhaseMapResult, e.mapResult)
	e.phase(agenttool.PhasePostHooks, e.postHooks)
	if e.out.Shown == nil {
		e.turn.free()
	}
	e.phase(agenttool.PhasePersistResult, func() {
		e.persistenceHooks()
		e.persist()
		e.link()
		e.redact()
		if e.out.Shown != nil && e.result.Status != agenttool.ResultCanceled && e.result.Status != agenttool.ResultDiscarded {
			e.out.Shown(e.result.Content) // the tool knows which content reaches the caller
		}
	})
	e.turn.free()
	return e.emitTerminal()
}

// failed completes the error of the call, and moves a call that failed while it waited in line, outside of the pipeline, to its last state.
func (e *ending) failed(err error) {
	e.err = agenttool.AsError(err, agenttool.ExecutionFailed).At(e.rec.reached())
	e.err.EvidenceRefs = e.rec.evidence(e.err.Class)
	if e.stuck && e.rec.reached() != agenttool.NotStarted {
		e.err.Hint = "It did not stop, and may still run. Look before you make this call again."
	}
	if e.rec.status() == agenttool.StatusPlanned {
		e.rec.fail(agenttool.StatusFailed, e.err)
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

// mapResult makes the result, once (AT-120).
func (e *ending) mapResult() {
	now := e.c.host.o.Now()
	status := resultStatus(e.rec.status(), e.err)
	e.result = agenttool.Result{
		SchemaVersion: agenttool.SchemaVersion, ResultID: e.result.ResultID,
		InvocationID: e.rec.id, Status: status, IsError: e.err != nil,
		Content: e.out.Content, UIFacingSummary: e.out.Summary,
		ResultRefs: agenttool.ResultRefs{ResourceRefs: e.out.Resources, ArtifactRefs: e.out.Artifacts},
		Error:      e.err, AbortReason: abortReason(e.err), RedactionState: "none",
		CreatedAt: agenttool.Timestamp(now), Mutations: e.rec.view().Mutations,
	}
	if e.out.Structured != nil {
		e.result.StructuredContent = encode(e.out.Structured)
	}
	switch {
	case e.err != nil && len(e.result.Content) == 0:
		e.result.Content = []agenttool.Content{agenttool.Text(explain(e.err))}
	case len(e.result.Content) == 0: // an empty success differs from missing output (AT-296, AT-402)
		e.result.Content = []agenttool.Content{agenttool.Text("(the call succeeded and had nothing to say)")}
	}
	if e.result.UIFacingSummary == "" && e.err != nil {
		e.result.UIFacingSummary = e.err.Message
	}
	e.remark()
}

// remark adds the host's own notes: where the session moved, and which jobs may disturb the call.
func (e *ending) remark() {
	if e.move != nil {
		e.result.Extra = agenttool.Extra{"context_modifiers": encode([]*modifier{e.move})}
	}
	if e.err != nil && e.err.Hint != "" && len(e.out.Content) > 0 {
		e.notes = append(e.notes, "["+e.err.Hint+"]")
	}
	if tool := e.c.tool; tool != nil && tool.Declaration.Lifecycle == agenttool.Deprecated {
		e.notes = append(e.notes, "["+tool.Declaration.Name+" is deprecated: use another tool]")
	}
	for _, change := range e.rec.changed() {
		e.notes = append(e.notes, "[the input was "+change+"]")
	}
	if e.consent.feedback != "" {
		e.notes = append(e.notes, "[the person who allowed this says: "+e.consent.feedback+"]")
	}
	if jobs := e.c.host.jobs.disturbance(e.rec, e.out.Job); jobs != "" {
		e.notes = append(e.notes, "["+jobs+"]")
	}
	for _, note := range e.notes {
		e.result.Content = append(e.result.Content, agenttool.Text(note))
	}
}

// explain is the text of an error for a model: the message, and a remedy if the message has none.
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
	case e.Class == agenttool.StreamingFallbackDiscarded:
		return agenttool.ResultDiscarded
	case s == agenttool.StatusCanceled:
		return agenttool.ResultCanceled
	case s == agenttool.StatusTimedOut || e.Class == agenttool.Timeout:
		return agenttool.ResultTimedOut
	case e.Class == agenttool.ApprovalRejected:
		return agenttool.ResultRejected
	case e.Class == agenttool.ResultTooLarge:
		return agenttool.ResultTooLargeStatus
	case s == agenttool.StatusDenied:
		return agenttool.ResultDenied
	}
	return agenttool.ResultFailed
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
	never := e.c.tool != nil && e.c.tool.Interface.PersistencePolicyRef == string(agenttool.NeverPersist)
	verdict := persist.Decide(size, persist.Policy{MaxInlineChars: e.threshold(), Caller: takes, NeverPersist: never})
	e.kept = agenttool.Persistence{
		SchemaVersion: agenttool.SchemaVersion, DecisionID: agenttool.PersistenceID(e.c.host.o.IDs.New("persist_", now)),
		InvocationID: e.rec.id, ResultID: e.result.ResultID, Strategy: verdict.Strategy, Threshold: verdict.Threshold,
		OriginalSizeBytes: contentSize(e.result.Content), RedactionState: "none", Reason: verdict.Reason, CreatedAt: agenttool.Timestamp(now),
	}
	byRef := verdict.Strategy == agenttool.RefOnly || verdict.Strategy == agenttool.PreviewAndPersist
	if byRef && dataSize(e.result.Content) > persist.InlineBytes {
		e.keepData()
		if verdict.Strategy == agenttool.RefOnly {
			e.rec.emit(agenttool.EventResultPersisted, "phase", agenttool.PhasePersistResult, "persistence", e.kept)
		}
	}
	if verdict.Strategy == agenttool.PreviewAndPersist {
		e.keep(shown, e.out.Persisted == nil || !takes.Holds(size.Text, size.Lines))
	}
	if len(e.result.StructuredContent) > maxStructured {
		ref, err := e.rec.store("structured_content", "application/json", e.result.StructuredContent)
		if err == nil {
			e.result.ResourceRefs = append(e.result.ResourceRefs, ref)
		}
		e.result.StructuredContent = nil
	}
	e.result.PersistenceRefs = []string{string(e.kept.DecisionID)}
	e.rec.storeLarge()
}

func (e *ending) threshold() int {
	if e.c.tool != nil && e.c.tool.Interface.MaxInlineChars > 0 {
		return e.c.tool.Interface.MaxInlineChars
	}
	return persist.InlineChars
}

// keepData stores the data of a result as payloads, and leaves a reference in the place of each (AT-292). Data that cannot be
// stored is dropped, and the result says so.
func (e *ending) keepData() {
	e.result.Content = slices.Clone(e.result.Content)
	for i, b := range e.result.Content {
		if b.Data == "" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(b.Data)
		var ref agenttool.Ref
		if err == nil {
			ref, err = e.rec.store(fmt.Sprintf("data_%d", i+1), b.MediaType, data)
		}
		if err != nil {
			e.kept.Strategy, e.kept.Reason = agenttool.DropWithReason, "data of the result cannot be stored: "+err.Error()
			e.result.Content[i] = agenttool.Text("[left out; " + e.kept.Reason + "]")
			continue
		}
		e.result.ResourceRefs = append(e.result.ResourceRefs, ref)
		e.result.Content[i] = agenttool.Content{Type: "persisted_output_ref", URI: ref.URI, Name: ref.Relation, MediaType: ref.MediaType}
		if e.kept.PersistedRef == nil {
			e.kept.PersistedRef = &ref
		}
	}
}

// keep stores the whole text, unless the tool already did. If cut is set, a preview takes the place of the text.
func (e *ending) keep(text string, cut bool) {
	ref := e.out.Persisted
	if ref != nil {
		e.kept.OriginalSizeBytes = e.out.Bytes
	} else {
		stored, err := e.rec.store("full_output", "text/plain; charset=utf-8", []byte(text))
		if err != nil {
			e.kept.Strategy, e.kept.Reason = agenttool.DropWithReason, "the session's storage cannot be written: "+err.Error()
		} else {
			stored.SizeBytes = max(stored.SizeBytes, int64(len(text)))
			e.result.ResourceRefs = append(e.result.ResourceRefs, stored)
			ref = &stored
		}
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

// link names what explains the result: decisions, hooks and payloads as evidence, the rules in force for it, and its span (AT-122, AT-429).
func (e *ending) link() {
	inv := e.rec.view()
	refs := slices.Concat(inv.PermissionDecisionRefs, inv.HookRefs)
	for _, r := range e.result.ResourceRefs {
		if strings.HasPrefix(r.URI, payloadScheme) {
			refs = append(refs, r.ID)
		}
	}
	e.result.EvidenceRefs, e.result.PolicyRefs = refs, inv.PolicyRefs
	for _, a := range e.result.ArtifactRefs { // for clients that look at the content alone (AT-271)
		e.result.Content = append(e.result.Content, agenttool.Content{Type: "artifact_ref", URI: a.URI, Name: a.Relation, MediaType: a.MediaType})
	}
	if e.out.Mapping != nil {
		e.result.ExternalMappings = []json.RawMessage{encode(e.out.Mapping)}
	}
	e.result.TelemetryRefs = []json.RawMessage{encode(e.span(inv))}
}

// payloadScheme starts the addresses of payloads of the session.
const payloadScheme = "toolhost://"

// span is the telemetry of one call (AT-346).
type span struct {
	TraceID      string `json:"trace_id"`
	SpanID       string `json:"span_id"`
	ParentSpanID string `json:"parent_span_id,omitempty"` // the client's
	ToolName     string `json:"tool_name"`
	ToolCallID   string `json:"tool_call_id"`
	RequestID    string `json:"request_id"`
	DurationMS   int64  `json:"duration_ms"`
	ResultSize   int64  `json:"result_size_bytes"`
}

// span describes a call for telemetry. Its trace is the client's, or else the session.
func (e *ending) span(inv agenttool.Invocation) span {
	s := span{
		SpanID: hexOf(string(inv.InvocationID), 8), ToolName: e.c.req.Tool, ToolCallID: inv.NativeCallID, RequestID: e.c.req.ID,
		ResultSize: e.kept.OriginalSizeBytes,
	}
	if began, err := time.Parse(time.RFC3339Nano, inv.CreatedAt); err == nil {
		s.DurationMS = e.c.host.o.Now().Sub(began).Milliseconds()
	}
	s.TraceID, s.ParentSpanID = parentOf(e.c.req.Trace)
	if s.TraceID == "" {
		s.TraceID = hexOf(string(e.c.host.o.Session), 16)
	}
	return s
}

// parentOf returns the trace and the span in a client's traceparent, empty if it sent none of that form.
func parentOf(trace []byte) (id, parent string) {
	var client struct {
		Traceparent string `json:"traceparent"`
	}
	if len(trace) == 0 || json.Unmarshal(trace, &client) != nil {
		return "", ""
	}
	parts := strings.Split(client.Traceparent, "-")
	if len(parts) < 4 || !isHex(parts[1], 16) || !isHex(parts[2], 8) {
		return "", ""
	}
	return parts[1], parts[2]
}

func isHex(s string, size int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == size
}

// hexOf returns size bytes of the digest of a text, in hex.
func hexOf(text string, size int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:size])
}

// redact takes secrets out of the result itself, if the settings say that the model reads none. A result that cannot be searched
// is withheld.
func (e *ending) redact() {
	r := e.c.host.o.Store.Redactor()
	if !r.Results() {
		return
	}
	text, found, err := r.Record(encode(e.result))
	if err == nil && len(found.Kinds) == 0 {
		return
	}
	var clean agenttool.Result
	state := "redacted"
	if err == nil {
		err = json.Unmarshal(text, &clean)
	}
	if err != nil {
		state, clean = "withheld", e.withheld()
	}
	clean.RedactionState = state
	e.result, e.kept.RedactionState, e.kept.PreviewSizeBytes = clean, state, contentSize(clean.Content)
	if e.kept.Strategy == agenttool.Inline {
		e.kept.Strategy, e.kept.Reason = agenttool.Redact, "redaction.strategy in the settings"
	}
	e.rec.emit(agenttool.EventResultRedacted, "phase", agenttool.PhasePersistResult, "redaction_state", state, "secrets", len(found.Kinds),
		"kinds", slices.Compact(slices.Sorted(slices.Values(found.Kinds))))
}

// withheld is the result without everything that may have secrets.
func (e *ending) withheld() agenttool.Result {
	const text = "the result could not be searched for secrets, and is withheld: see redaction.strategy in the settings"
	r := e.result
	if r.Error != nil {
		r.Error = agenttool.Failure(r.Error.Class, r.Error.Code, text)
	} else {
		r.Status, r.IsError = agenttool.ResultRedactedStatus, true
		r.Error = agenttool.Failure(agenttool.ResultRedacted, "result_withheld", text).At(e.rec.reached())
	}
	r.Content, r.StructuredContent, r.UIFacingSummary, r.Mutations, r.Extra = []agenttool.Content{agenttool.Text("[" + text + "]")}, nil, "", nil, nil
	return r
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
		Invocation: inv, Result: e.result, Persistence: e.kept, Job: jobID(e.out.Job),
		encoded: object("invocation", json.RawMessage(invocation), "result", json.RawMessage(result), "persistence", json.RawMessage(kept)),
	}
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

func jobID(j agenttool.Job) string {
	if j == nil {
		return ""
	}
	return j.ID()
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

// withDiffs returns the text of the blocks as a model reads it, diffs included.
func withDiffs(blocks []agenttool.Content) string {
	var texts []string
	for _, b := range blocks {
		if text := b.Text + b.Diff; text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
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

// contentSize is the bytes of all blocks: text, diffs, and data before it was encoded.
func contentSize(blocks []agenttool.Content) (n int64) {
	for _, b := range blocks {
		n += int64(len(b.Text) + len(b.Diff) + base64.StdEncoding.DecodedLen(len(b.Data)) - strings.Count(b.Data[max(0, len(b.Data)-2):], "="))
	}
	return n
}

// dataSize is the bytes of images and other data in the blocks.
func dataSize(blocks []agenttool.Content) (n int64) {
	for _, b := range blocks {
		n += int64(base64.StdEncoding.DecodedLen(len(b.Data)))
	}
	return n
}
