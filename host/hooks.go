package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/validate"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/persist"
)

// hookRunner runs the hooks of a call, and keeps their texts for the result. It is nil where none are set. The call's
// goroutine alone runs hooks.
type hookRunner struct {
	host *Host
	set  *hook.Set // the snapshot that the call was admitted under
	rec  *record
	tool *entry // of the call; nil: the call names none
	name string // of the tool, as the call has it

	rewriter hook.Message // the hook whose input is bound now; zero: none
	asked    *hint        // opinions about a prompt of hooks that changed the input: they do not run on their own input
	stored   int          // payloads of hooks

	mu       sync.Mutex          // guards what follows: the texts of hooks, until the result has them
	decision *agenttool.Decision // the last one that hooks got
	context  []string            // for the model, not yet in the result
	messages []hook.Message      // for the person
	warnings []string            // failures after the call
	stop     *hook.Message
	remaps   []remap
}

// remap records that a hook answered in the place of the call (AT-182, AT-185).
type remap struct {
	HookRef   agenttool.HookID `json:"hook_ref"`
	HookEvent hook.Event       `json:"hook_event"`
	Bytes     int              `json:"original_size_bytes"`
	Digest    string           `json:"original_digest"` // of content and structured content as they were
}

// fork returns a copy with another record, which concludes a call that is stuck.
func (w *hookRunner) fork(rec *record) *hookRunner {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &hookRunner{
		host: w.host, set: w.set, rec: rec, tool: w.tool, name: w.name, decision: w.decision, stop: w.stop,
		context: slices.Clone(w.context), messages: slices.Clone(w.messages), warnings: slices.Clone(w.warnings),
	}
}

// situation is where a call is when hooks run.
type situation struct {
	dir   string
	mode  permissions.Mode
	input []byte // as it is bound now; nil: the observable one
}

// The events of hooks. There are none for prompts and decisions: theirs come before the call, and say which they are.
const (
	eventHookPreStarted    agenttool.EventType = "tool.hook.pre.started"
	eventHookPreCompleted  agenttool.EventType = "tool.hook.pre.completed"
	eventHookPostStarted   agenttool.EventType = "tool.hook.post.started"
	eventHookPostCompleted agenttool.EventType = "tool.hook.post.completed"
)

// hookMoments gives the phase and the progress text of each event of hooks.
var hookMoments = map[hook.Event]struct {
	phase              agenttool.Phase
	started, completed agenttool.EventType
}{
	hook.PreToolUse:         {agenttool.PhasePreHooks, eventHookPreStarted, eventHookPreCompleted},
	hook.PermissionRequest:  {agenttool.PhasePermission, eventHookPreStarted, eventHookPreCompleted},
	hook.PermissionDecision: {agenttool.PhasePermission, eventHookPreStarted, eventHookPreCompleted},
	hook.PostToolUse:        {agenttool.PhasePostHooks, eventHookPostStarted, eventHookPostCompleted},
	hook.PostToolUseFailure: {agenttool.PhasePostHooks, eventHookPostStarted, eventHookPostCompleted},
	hook.ResultPersistence:  {agenttool.PhasePersistResult, eventHookPostStarted, eventHookPostCompleted},
}

// rewrites is the hook whose input is bound now; zero: none.
func (w *hookRunner) rewrites() hook.Message {
	if w == nil {
		return hook.Message{}
	}
	return w.rewriter
}

// hint is the answer of hooks about a call that the policy decides.
type hint struct {
	behavior  agenttool.Behavior // "": no opinion
	said      hook.Message       // why, and which hook
	rewritten bool               // the call is bound to another input now: decide anew
}

// on returns the decision of the policy after the hooks' answers. Hooks can deny a call that the policy allows, and can make it
// ask. They can allow a call that asks because of the mode alone, never one that a rule denies or asks about, and no protected
// path (AT-184). Without a user who can answer, a call that a hook wants asked is denied.
func (h hint) on(d agenttool.Decision) agenttool.Decision {
	switch {
	case h.behavior == agenttool.Deny && d.Behavior != agenttool.Deny:
	case h.behavior == agenttool.Ask && d.Behavior == agenttool.Allow:
	case h.behavior == agenttool.Allow && modeAsks(d):
	default:
		return d
	}
	d.Behavior = h.behavior
	detail := "allowed by"
	switch h.behavior {
	case agenttool.Deny:
		detail = "denied by"
	case agenttool.Ask:
		detail = "asked about because of"
	}
	detail += " the hook " + h.said.Name
	if h.said.Text != "" {
		detail += ": " + h.said.Text
	}
	if mode := permissions.Mode(d.Mode); h.behavior == agenttool.Ask && (mode == permissions.DontAsk || mode == permissions.Plan) {
		d.Behavior, detail = agenttool.Deny, detail+"; mode "+d.Mode+" denies what would ask"
	}
	if d.Behavior != agenttool.Ask {
		d.SuggestedUpdates = nil
	}
	reason := agenttool.DecisionReason{Type: "hook", Detail: detail, Extra: agenttool.Extra{"hook_ref": encode(h.said.Ref)}}
	if d.Reason != nil {
		reason.Subcommands = d.Reason.Subcommands
	}
	d.Reason, d.RuleRefs, d.Source = &reason, nil, ""
	return d
}

// modeAsks reports whether nothing but the mode wants a person asked.
func modeAsks(d agenttool.Decision) bool {
	return d.Behavior == agenttool.Ask && len(d.RuleRefs) == 0 && d.Reason != nil &&
		slices.Contains([]string{"mode", "classifier", "working_dir", "subcommand_results"}, d.Reason.Type)
}

// told keeps the decision for the input of later hooks.
func (w *hookRunner) told(d agenttool.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decision = &d
}

// watchers are the hooks of an event that are set for the call.
func (w *hookRunner) watchers(e hook.Event) []*hook.Hook {
	if w == nil || !w.set.Has(e) {
		return nil
	}
	r := permissions.Request{Tool: w.name, Facts: w.rec.view().Facts}
	if w.tool != nil {
		r.Tool, r.RunsCode = w.tool.Declaration.Name, slices.Contains(w.tool.Permission.AccessKinds, "code_execution")
	}
	return w.set.For(e, r.Tool, func(rule string) bool { return r.Facts != nil && w.host.o.HookMatch(rule, r) })
}

// runHooks runs the hooks of an event that are set for the call, records it, and returns their merged answer. More
// are further names and values for their input.
func (w *hookRunner) run(ctx context.Context, e hook.Event, at func() situation, more ...any) hook.Outcome {
	hooks := w.watchers(e)
	if len(hooks) == 0 {
		return hook.Outcome{}
	}
	moment := hookMoments[e]
	if e == hook.PreToolUse {
		w.rec.to(agenttool.StatusPreHooksRunning, "")
	}
	runs := w.host.runner.Prepare(hooks, w.rec.id, w.rec.tool)
	for i := range runs {
		w.rec.emit(moment.started, "phase", moment.phase, "hook", runs[i].Record)
	}
	_ = w.rec.flush() // subscribers see that hooks run; a journal that cannot be written ends the call later
	w.host.runner.Run(ctx, runs, w.subject(at(), more...))
	for i := range runs {
		w.emitStep(runs[i].Answer.Progress, moment.phase)
		w.rec.emit(moment.completed, "phase", moment.phase, "hook", w.slim(runs[i].Record))
	}
	o := hook.Merge(e, runs)
	w.note(e, runs, o)
	return o
}

// note keeps the texts of hooks for the result.
func (w *hookRunner) note(e hook.Event, runs []hook.Run, o hook.Outcome) {
	w.rec.update(func(inv *agenttool.Invocation) {
		for i := range runs {
			inv.HookRefs = append(inv.HookRefs, string(runs[i].Record.HookID))
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, o.Messages...)
	if o.Context != "" {
		w.context = append(w.context, o.Context)
	}
	if o.Stop != nil && w.stop == nil {
		w.stop = o.Stop
	}
	if !e.Before() {
		for _, f := range o.Failures {
			w.warnings = append(w.warnings, f.Message)
		}
	}
}

func (w *hookRunner) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warnings = append(w.warnings, text)
}

// slim moves what is too large for an event into payloads.
func (w *hookRunner) slim(record agenttool.Hook) agenttool.Hook {
	record.UpdatedInput = w.store("hook_input", record.UpdatedInput)
	record.UpdatedOutput = w.store("hook_output", record.UpdatedOutput)
	return record
}

func (w *hookRunner) store(name string, data json.RawMessage) json.RawMessage {
	if len(data) <= maxInlineInput {
		return data
	}
	w.stored++
	ref, err := w.rec.store(fmt.Sprintf("%s_%d", name, w.stored), "application/json", data)
	if err != nil {
		return data
	}
	return object("ref", ref.URI)
}

// emitStep tells of a hook's progress (AT-177).
func (w *hookRunner) emitStep(p *hook.Progress, phase agenttool.Phase) {
	if p == nil {
		return
	}
	step := w.rec.step(agenttool.Progress{Message: hook.Printable(p.Message), Percent: p.Percent})
	w.rec.emit(agenttool.EventProgress, "phase", phase, "progress", step)
}

// subject is the input of hooks on stdin.
func (w *hookRunner) subject(at situation, more ...any) json.RawMessage {
	tool, inv := w.name, w.rec.view()
	if w.tool != nil {
		tool = w.tool.Declaration.Name
	}
	about := []any{
		"session_id", string(w.host.o.Session), "workspace", w.host.Workspace(), "dir", at.dir, "mode", string(at.mode), "tool", tool,
	}
	switch {
	case at.input != nil:
		about = append(about, "input", json.RawMessage(at.input))
	case len(inv.ObservableInput) > 0:
		about = append(about, "input", inv.ObservableInput)
	}
	if inv.Facts != nil {
		about = append(about, "facts", inv.Facts)
	}
	w.mu.Lock()
	if w.decision != nil {
		about = append(about, "decision", *w.decision)
	}
	w.mu.Unlock()
	return object(append(about, more...)...)
}

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

// runAfter runs the hooks of an event after the call, if it ran. Each event remaps the result at most once, and no hook sees what it
// has made of it. The state of post hooks comes before the call's end state.
func (e *ending) runAfter(event hook.Event) {
	ran := e.rec.view().StartedAt != ""
	if ran && len(e.hooks.watchers(event)) > 0 {
		ctx, cancel := e.afterwards()
		defer cancel()
		post := event != hook.ResultPersistence
		var end agenttool.Transition
		if post {
			e.rec.update(func(inv *agenttool.Invocation) {
				last := len(inv.StatusTransitions) - 1
				end, inv.StatusTransitions = inv.StatusTransitions[last], inv.StatusTransitions[:last]
			})
			e.rec.to(agenttool.StatusPostHooksRunning, "")
		}
		o := e.hooks.run(ctx, event, e.at, "result", e.shownResult(event))
		if post {
			e.rec.to(end.Status, end.Reason)
		}
		if o.Output != nil {
			e.remap(event, o)
		}
	}
	e.annotate()
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
	r.ResourceRefs = slices.DeleteFunc(slices.Clone(r.ResourceRefs), func(ref agenttool.Ref) bool { return strings.HasPrefix(ref.URI, payloadScheme) })
	e.out.Persisted = nil
	text := allText(r.Content)
	for _, note := range e.notes { // of the host: a hook may have kept them
		if !strings.Contains(text, note) {
			r.Content = append(r.Content, agenttool.Text(note))
		}
	}
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
	if end := e.c.ctxEnd.Load(); end != 0 {
		left = max(leastAfter, afterEnd-time.Since(time.Unix(0, end)))
	}
	return context.WithTimeoutCause(context.WithoutCancel(e.c.ctx), left,
		fmt.Errorf("it took longer than the %s that hooks have after a call was ended", afterEnd))
}
