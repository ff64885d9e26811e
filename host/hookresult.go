package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/validate"
	"toolhost/host/hook"
	"toolhost/persist"
)

// postHooks runs the hooks of post_tool_use or post_tool_use_failure for a call that ran, and puts the answers of all hooks
// so far into the result (AT-121, AT-171, AT-172). They do not change how the call ended.
func (e *ending) postHooks() {
	if e.hooks == nil {
		return
	}
	event := hook.PostToolUse
	if e.err != nil {
		event = hook.PostToolUseFailure
	}
	e.runAfter(event)
}

// persistenceHooks runs the hooks of result_persistence, which see a result before it is kept (AT-175).
func (e *ending) persistenceHooks() {
	if e.hooks != nil {
		e.runAfter(hook.ResultPersistence)
	}
}

// runAfter runs the hooks of an event after the call. Each event remaps the result at most once, and no hook sees what it
// has made of it.
func (e *ending) runAfter(event hook.Event) {
	if e.ran() && len(e.hooks.watchers(event)) > 0 {
		ctx, cancel := e.afterwards()
		defer cancel()
		ended := e.reopen(event)
		o := e.hooks.run(ctx, event, e.at, "result", e.shownResult(event))
		e.reclose(ended)
		if o.Output != nil {
			e.remap(event, o)
		}
	}
	e.annotate()
}

// ran reports whether the call began to run.
func (e *ending) ran() bool { return e.rec.view().StartedAt != "" }

// reopen puts the state of post hooks before the call's end state, which comes after it.
func (e *ending) reopen(event hook.Event) (ended *agenttool.Transition) {
	if event == hook.ResultPersistence {
		return nil
	}
	var t agenttool.Transition
	e.rec.update(func(inv *agenttool.Invocation) {
		last := len(inv.StatusTransitions) - 1
		t, inv.StatusTransitions = inv.StatusTransitions[last], inv.StatusTransitions[:last]
	})
	e.rec.to(agenttool.StatusPostHooksRunning, "")
	return &t
}

func (e *ending) reclose(ended *agenttool.Transition) {
	if ended != nil {
		e.rec.to(ended.Status, ended.Reason)
	}
}

// remap puts a hook's output in the place of the call's: its content, its structured content and the references to its
// own output. Stored parts of that stay in the session without a reference.
func (e *ending) remap(event hook.Event, o hook.Outcome) {
	r := &e.result
	if err := e.fits(o.Output); err != nil {
		e.hooks.warn(fmt.Sprintf("the %s hook %s changed the output to one that cannot be used: %v", event, o.OutputBy.Name, err))
		return
	}
	was := encode(map[string]any{"content": r.Content, "structured_content": r.StructuredContent})
	sum := sha256.Sum256(was)
	r.Content, r.StructuredContent = o.Output.Content, o.Output.Structured
	if len(r.Content) == 0 {
		r.Content = []agenttool.Content{agenttool.Text(string(r.StructuredContent))}
	}
	if r.Error != nil {
		failure := *r.Error
		failure.Message, failure.Hint = allText(r.Content), ""
		r.Error, r.UIFacingSummary, r.StructuredContent = &failure, failure.Message, nil
	}
	r.ResourceRefs = withoutPayloads(r.ResourceRefs)
	e.out.Persisted = nil
	e.renote()
	e.hooks.mu.Lock()
	defer e.hooks.mu.Unlock()
	e.hooks.remaps = append(e.hooks.remaps, remap{o.OutputBy.Ref, event, len(was), "sha256:" + hex.EncodeToString(sum[:])})
}

// fits reports whether structured content is of the form that the tool promises.
func (e *ending) fits(o *hook.Output) error {
	if e.c.tool == nil || o.Structured == nil || len(e.c.tool.Interface.OutputSchema) == 0 {
		return nil
	}
	schema, err := validate.Compile(e.c.tool.Interface.OutputSchema)
	if err != nil {
		return err
	}
	return schema.Check(o.Structured)
}

func withoutPayloads(refs []agenttool.Ref) []agenttool.Ref {
	var rest []agenttool.Ref
	for _, r := range refs {
		if !strings.HasPrefix(r.URI, "toolhost://") {
			rest = append(rest, r)
		}
	}
	return rest
}

// renote adds the host's own notes to a result that a hook has put together, unless it has kept them.
func (e *ending) renote() {
	text := allText(e.result.Content)
	for _, note := range e.notes {
		if !strings.Contains(text, note) {
			e.result.Content = append(e.result.Content, agenttool.Text(note))
		}
	}
}

// annotate puts the texts of hooks into the result: context, failures after the call and the request to stop for the
// model, messages for the user.
func (e *ending) annotate() {
	w, r := e.hooks, &e.result
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.context {
		r.Content = append(r.Content, agenttool.Text(text))
	}
	w.context = nil
	for _, text := range w.warnings[countOf(r.Extra["warnings"]):] {
		r.Content = append(r.Content, agenttool.Text("["+text+"]"))
	}
	if w.stop != nil && e.err == nil && r.Extra["stop"] == nil {
		r.Content = append(r.Content, agenttool.Text(fmt.Sprintf("[the hook %s asks to stop here: %s]", w.stop.Name, w.stop.Text)))
	}
	if len(w.messages) > 0 {
		r.Extra = withExtra(r.Extra, "hook_messages", messageRecords(w.messages))
	}
	if len(w.warnings) > 0 {
		r.Extra = withExtra(r.Extra, "warnings", w.warnings)
	}
	if w.stop != nil {
		r.Extra = withExtra(r.Extra, "stop", map[string]any{"reason": w.stop.Text, "hook_ref": w.stop.Ref})
	}
	if len(w.remaps) > 0 {
		r.Extra = withExtra(r.Extra, "output_mutations", w.remaps)
	}
}

// countOf is how many items an encoded list has.
func countOf(list json.RawMessage) int {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items) // no list: none
	return len(items)
}

func messageRecords(said []hook.Message) []map[string]any {
	records := make([]map[string]any, len(said))
	for i, s := range said {
		records[i] = map[string]any{"text": s.Text, "hook_ref": s.Ref, "hook": s.Name}
	}
	return records
}

const (
	maxShownResult = 256 << 10 // bytes of a result's content that hooks get
	shownPreview   = 16_000    // characters of a text that is more
)

// shownResult is the result as hooks get it: large text is a preview and a reference, other large blocks are left out.
func (e *ending) shownResult(event hook.Event) json.RawMessage {
	r := e.result
	size := len(r.StructuredContent)
	for _, b := range r.Content {
		size += len(b.Text) + len(b.Data) + len(b.Diff)
	}
	if size <= maxShownResult {
		return encode(r)
	}
	room := maxShownResult
	if text := allText(r.Content); len(text) > maxShownResult/2 {
		r.Content = append(e.previewOf(text, event), withoutText(r.Content)...)
		room /= 2
	}
	var blocks []agenttool.Content
	for _, b := range r.Content {
		if size := len(b.Text) + len(b.Data) + len(b.Diff); size <= room {
			blocks = append(blocks, b)
			room -= size
		}
	}
	r.Content = blocks
	if len(r.StructuredContent) > room {
		r.StructuredContent = nil
	}
	return encode(r)
}

// previewOf keeps a text as a payload, unless the tool has, and returns how hooks see it.
func (e *ending) previewOf(text string, event hook.Event) []agenttool.Content {
	blocks := []agenttool.Content{agenttool.Text(persist.Preview(text, persist.Extent{Chars: shownPreview}))}
	ref := e.out.Persisted
	if ref == nil {
		stored, err := e.rec.store("result_for_"+string(event), "text/plain; charset=utf-8", []byte(text))
		if err != nil {
			return blocks
		}
		ref = &stored
	}
	return append(blocks, agenttool.Content{Type: "persisted_output_ref", URI: ref.URI, MediaType: ref.MediaType})
}

// How long the hooks of an event may take after the call was canceled or timed out: until afterEnd, and leastAfter at least. Then they are
// ended, and the call is answered.
const (
	afterEnd   = 1500 * time.Millisecond
	leastAfter = 200 * time.Millisecond
)

// afterwards is the context of work after the call: its own, or a short one if that has ended.
func (e *ending) afterwards() (context.Context, context.CancelFunc) {
	if e.c.ctx.Err() == nil {
		return e.c.ctx, func() {}
	}
	left := afterEnd
	if lapsed := e.c.lapsed.Load(); lapsed != 0 {
		left = max(leastAfter, afterEnd-time.Since(time.Unix(0, lapsed)))
	}
	return context.WithTimeoutCause(context.WithoutCancel(e.c.ctx), left,
		fmt.Errorf("it took longer than the %s that hooks have after a call was ended", afterEnd))
}
