package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/permissions"
)

// hookRunner runs the hooks of a call, and keeps their texts for the result. It is nil where none are set. The call's
// goroutine alone runs hooks.
type hookRunner struct {
	host *Host
	set  *hook.Set // the snapshot that the call was admitted under
	rec  *record
	hookTarget

	rewriting
	stored int // payloads of hooks

	mu sync.Mutex // guards what follows
	hookAnswers
}

// hookTarget is the tool of the call.
type hookTarget struct {
	tool *entry // nil: the call names none
	name string // of the tool, as the call has it
}

// rewriting is about hooks that change the input.
type rewriting struct {
	rewriter hook.Message // the hook whose input is bound now; zero: none
	asked    *hint        // opinions about a prompt of hooks that changed the input: they do not run on their own input
}

// hookAnswers are the texts of hooks, until the result has them.
type hookAnswers struct {
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
		host: w.host, set: w.set, rec: rec, hookTarget: hookTarget{tool: w.tool, name: w.name}, hookAnswers: hookAnswers{
			decision: w.decision, stop: w.stop,
			context: slices.Clone(w.context), messages: slices.Clone(w.messages), warnings: slices.Clone(w.warnings),
		},
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
	detail := map[agenttool.Behavior]string{agenttool.Deny: "denied by", agenttool.Ask: "asked about because of", agenttool.Allow: "allowed by"}[h.behavior]
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
