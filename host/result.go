package host

import (
	"encoding/base64"
	"fmt"
	"strings"

	"toolhost/agenttool"
)

// ending is the last stage of a call: it makes the result from the tool's output, or from the error. Of the call it uses only
// fields that never change, since the call's own goroutine may be stuck and go on later.
type ending struct {
	c     *call
	rec   *record
	hooks *hookRunner      // nil: none are set
	turn  turn             // given back at the end
	at    func() situation // for hooks

	outcome
	consent

	resultRecords
}

// outcome is the state of the call at its end.
type outcome struct {
	stuck bool // the call did not come to its end, and may still run
	out   agenttool.Output
	err   *agenttool.Error // nil: it succeeded
	moved *modifier        // of the session's directory; nil: none
	notes []string         // of the host, for the model
}

// resultRecords are the result and the place of its payload.
type resultRecords struct {
	result agenttool.Result
	kept   agenttool.Persistence
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
	if e.moved != nil {
		e.result.Extra = agenttool.Extra{"context_modifiers": encode([]*modifier{e.moved})}
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
	if e.feedback != "" {
		e.notes = append(e.notes, "[the person who allowed this says: "+e.feedback+"]")
	}
	if jobs := e.c.host.jobs.disturbers(e.rec, e.out.Job); len(jobs) > 0 {
		e.notes = append(e.notes, "["+disturbance(jobs)+"]")
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

// contentSize is the bytes of all blocks: text, diffs, and data before it was encoded.
func contentSize(blocks []agenttool.Content) (n int64) {
	for _, b := range blocks {
		n += int64(len(b.Text) + len(b.Diff) + base64.StdEncoding.DecodedLen(len(b.Data)) - strings.Count(b.Data[max(0, len(b.Data)-2):], "="))
	}
	return n
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
