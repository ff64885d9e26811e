package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/permissions"
)

// hooked is what hooks have to do with a call. It is nil where none are set. The call's goroutine alone changes it; what
// the result tells is under call.mu as well, for whoever answers in its stead.
type hooked struct {
	set      *hook.Set // the snapshot it was admitted under
	rewriter hook.Said // the hook whose input is being bound; zero: none
	asked    *hint     // what hooks said of a prompt, and changed the input: they do not run on their own input
	stored   int       // payloads of what hooks wrote

	decision *agenttool.Decision // the last one that hooks were told of
	context  []string            // for the model, not yet in the result
	messages []hook.Said         // for the person
	warnings []string            // what failed after the call
	stop     *hook.Said
	remaps   []remap
}

// forTwin returns what the result tells, for the call that is answered in c's stead. The caller holds c.mu.
func (w *hooked) forTwin() *hooked {
	if w == nil {
		return nil
	}
	return &hooked{
		set: w.set, decision: w.decision, stop: w.stop,
		context: slices.Clone(w.context), messages: slices.Clone(w.messages), warnings: slices.Clone(w.warnings),
	}
}

// The events of hooks. There are none for prompts and decisions: theirs come before the call, and say which they are.
const (
	eventHookPreStarted    agenttool.EventType = "tool.hook.pre.started"
	eventHookPreCompleted  agenttool.EventType = "tool.hook.pre.completed"
	eventHookPostStarted   agenttool.EventType = "tool.hook.post.started"
	eventHookPostCompleted agenttool.EventType = "tool.hook.post.completed"
)

// hookMoments says of each event of hooks in which phase it is and how it is told.
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

// SetHooks replaces the hooks for calls that are admitted from now on. On an error, which says everything that is wrong
// with them, the old ones stay.
func (h *Host) SetHooks(hooks []hook.Hook) error {
	set, err := h.compileHooks(hooks)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hooks = set
	return nil
}

// Hooks returns the hooks in force.
func (h *Host) Hooks() *hook.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hooks
}

func (h *Host) compileHooks(hooks []hook.Hook) (*hook.Set, error) {
	names := map[string]string{}
	for name, e := range h.registry.names {
		names[strings.ToLower(name)] = e.Declaration.Name
	}
	for _, k := range hooks {
		if k.Matcher.Input != "" && h.o.HookMatch == nil {
			return nil, fmt.Errorf("hook %s: nothing can tell which calls %q is about: Options.HookMatch is missing", k.Name(), k.Matcher.Input)
		}
	}
	return hook.Compile(hooks, names)
}

// hint is what hooks say about a call which the policy decides.
type hint struct {
	behavior  agenttool.Behavior // "": no opinion
	said      hook.Said          // why, and which hook
	rewritten bool               // the call is bound to another input now: decide anew
}

// on returns the decision of the policy as the hooks leave it. They deny what the policy lets pass, and have a person
// asked where it would not; what they allow is what the mode alone would ask about, never what a rule denies or asks
// about, and nothing that is protected (AT-184). Where nobody is asked, what a hook wants asked is denied.
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

// preHooks runs the hooks of pre_tool_use (AT-116, AT-170). What they say of permission is kept for that phase.
func (c *call) preHooks(ctx context.Context) (err error) {
	c.hinted, err = c.consult(ctx, hook.PreToolUse)
	return err
}

// permissionRequestHooks runs the hooks of permission_request before a person is asked (AT-173); d is the decision that
// asks, and gets what they have to tell the person. Where the hint says that the call was rewritten it is bound anew,
// and to be decided anew; hooks that rewrote it do not run again. An error ends the call.
func (c *call) permissionRequestHooks(ctx context.Context, d *agenttool.Decision) (hint, error) {
	if c.hooks == nil {
		return hint{}, nil
	}
	if c.hooks.asked != nil {
		return *c.hooks.asked, nil
	}
	c.told(*d)
	h, err := c.consult(ctx, hook.PermissionRequest)
	if err != nil {
		return hint{}, err
	}
	if h.rewritten {
		c.hooks.asked = &hint{behavior: h.behavior, said: h.said}
	}
	if h.behavior == agenttool.Ask {
		c.hinted = hint{behavior: h.behavior, said: h.said} // no rule that is added meanwhile answers the prompt
	}
	if len(c.hooks.messages) > 0 {
		d.Extra = withExtra(d.Extra, "hook_messages", messageRecords(c.hooks.messages))
	}
	return h, nil
}

// permissionDecisionHooks tells the hooks of permission_decision what was decided (AT-174).
func (c *call) permissionDecisionHooks(ctx context.Context, d agenttool.Decision) {
	if c.hooks == nil {
		return
	}
	c.told(d)
	c.runHooks(ctx, hook.PermissionDecision)
}

// told keeps the decision that hooks are told of.
func (c *call) told(d agenttool.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks.decision = &d
}

// consult runs the hooks of an event before the call and does what they say, but for permission. What fails blocks the
// call (AT-183).
func (c *call) consult(ctx context.Context, e hook.Event) (hint, error) {
	o := c.runHooks(ctx, e)
	h := hint{behavior: o.Behavior, said: o.Why}
	switch {
	case ctx.Err() != nil:
		return hint{}, context.Cause(ctx)
	case o.Stop != nil:
		message := fmt.Sprintf("the %s hook %s stopped the call", e, o.Stop.Name)
		if o.Stop.Text != "" {
			message += ": " + o.Stop.Text
		}
		return hint{}, agenttool.Failure(agenttool.HookBlocked, "hook_stopped", message)
	case o.Behavior == agenttool.Deny:
		return h, nil
	case len(o.Failures) > 0:
		return hint{}, o.Failures[0]
	case o.Input == nil || len(changedFields(c.seen, o.Input)) == 0:
		return h, nil
	}
	h.rewritten = true
	return h, c.rewrite(ctx, e, o)
}

// rewrite binds what a hook wants to run instead.
func (c *call) rewrite(ctx context.Context, e hook.Event, o hook.Outcome) error {
	c.hooks.rewriter = o.InputBy
	err := c.rebind(ctx, o.Input)
	c.hooks.rewriter = hook.Said{}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return agenttool.Failure(agenttool.HookBlocked, "hook_failed",
		fmt.Sprintf("the %s hook %s changed the input to one that cannot be used: %v", e, o.InputBy.Name, err)).Because(err)
}

// mutation writes the bound input down, as what others may see or as what a hook made of that, and returns the record
// of how it differs from the one before.
func (c *call) mutation() agenttool.InputMutation {
	if c.hooks == nil || c.hooks.rewriter.Ref == "" {
		return c.observe()
	}
	input, by, now := encode(c.bound.Input()), c.hooks.rewriter, c.host.o.Now()
	m := agenttool.InputMutation{
		SchemaVersion: agenttool.SchemaVersion, MutationID: agenttool.MutationID(c.host.o.IDs.New("mut_", now)),
		InvocationID: c.inv.InvocationID, SourceType: "hook", SourceRef: string(by.Ref),
		FromInputRef: refObservable, ToInputRef: refPermission, ChangedFields: changedFields(c.seen, input),
		Reason: "changed by the hook " + by.Name, CreatedAt: agenttool.Timestamp(now),
	}
	name := "permission_input"
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inv.PermissionInputRef != refObservable { // a hook changed it before
		m.FromInputRef, name = refPermission, "permission_input_2"
	}
	c.seen = input
	c.inv.PermissionInput, c.inv.PermissionInputRef = c.storeInput(name, input, "")
	c.inv.CallInputRef = refPermission
	if c.inv.PermissionInputRef != "" {
		c.inv.CallInputRef = c.inv.PermissionInputRef
	}
	return m
}

// watchers are the hooks of an event that are set for the call.
func (c *call) watchers(e hook.Event) []*hook.Hook {
	if c.hooks == nil || !c.hooks.set.Has(e) {
		return nil
	}
	r := permissions.Request{Tool: c.req.Tool, Facts: c.inv.Facts}
	if c.tool != nil {
		r.Tool, r.RunsCode = c.tool.Declaration.Name, slices.Contains(c.tool.Permission.AccessKinds, "code_execution")
	}
	return c.hooks.set.For(e, r.Tool, func(rule string) bool { return r.Facts != nil && c.host.o.HookMatch(rule, r) })
}

// runHooks runs the hooks of an event that are set for the call, records it, and returns what they say together. More
// are names and values that they are told besides what is known of the call anyway.
func (c *call) runHooks(ctx context.Context, e hook.Event, more ...any) hook.Outcome {
	hooks := c.watchers(e)
	if len(hooks) == 0 {
		return hook.Outcome{}
	}
	moment := hookMoments[e]
	if e == hook.PreToolUse {
		c.to(agenttool.StatusPreHooksRunning, "")
	}
	runs := c.host.runner.Prepare(hooks, c.inv.InvocationID, c.inv.ToolID)
	for i := range runs {
		c.emit(moment.started, "phase", moment.phase, "hook", runs[i].Record)
	}
	_ = c.flush() // who follows events sees what is waited for; a journal that cannot be written ends the call later
	c.host.runner.Run(ctx, runs, c.subject(more...))
	for i := range runs {
		c.emitStep(runs[i].Answer.Progress, moment.phase)
		c.emit(moment.completed, "phase", moment.phase, "hook", c.slim(runs[i].Record))
	}
	o := hook.Merge(e, runs)
	c.noteHooks(e, runs, o)
	return o
}

// noteHooks keeps what the result will tell of hooks.
func (c *call) noteHooks(e hook.Event, runs []hook.Run, o hook.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range runs {
		c.inv.HookRefs = append(c.inv.HookRefs, string(runs[i].Record.HookID))
	}
	w := c.hooks
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

// slim moves what is too large for an event into payloads.
func (c *call) slim(record agenttool.Hook) agenttool.Hook {
	record.UpdatedInput = c.storeHooked("hook_input", record.UpdatedInput)
	record.UpdatedOutput = c.storeHooked("hook_output", record.UpdatedOutput)
	return record
}

func (c *call) storeHooked(name string, data json.RawMessage) json.RawMessage {
	if len(data) <= maxInlineInput {
		return data
	}
	c.hooks.stored++
	ref, err := c.store(fmt.Sprintf("%s_%d", name, c.hooks.stored), "application/json", data)
	if err != nil {
		return data
	}
	return object("ref", ref.URI)
}

// emitStep tells of a hook's progress (AT-177).
func (c *call) emitStep(p *hook.Progress, phase agenttool.Phase) {
	if p == nil {
		return
	}
	now := c.host.o.Now()
	c.mu.Lock()
	c.steps++
	step := c.steps
	c.mu.Unlock()
	c.emit(agenttool.EventProgress, "phase", phase, "progress", agenttool.Progress{
		SchemaVersion: agenttool.SchemaVersion, ProgressID: agenttool.ProgressID(c.host.o.IDs.New("prog_", now)),
		InvocationID: c.inv.InvocationID, Sequence: step, Status: "running", Message: hook.Printable(p.Message), Percent: p.Percent,
		Timestamp: agenttool.Timestamp(now),
	})
}

// subject is what hooks are told of the call.
func (c *call) subject(more ...any) json.RawMessage {
	tool := c.req.Tool
	if c.tool != nil {
		tool = c.tool.Declaration.Name
	}
	told := []any{
		"session_id", string(c.host.o.Session), "workspace", c.host.Workspace(), "dir", c.dir, "mode", string(c.policy.Mode), "tool", tool,
	}
	switch {
	case c.bound != nil:
		told = append(told, "input", encode(c.bound.Input()))
	case len(c.inv.ObservableInput) > 0:
		told = append(told, "input", c.inv.ObservableInput)
	}
	if c.inv.Facts != nil {
		told = append(told, "facts", c.inv.Facts)
	}
	if c.hooks.decision != nil {
		told = append(told, "decision", *c.hooks.decision)
	}
	return object(append(told, more...)...)
}

// afterEnd is how long the hooks of an event may take after the call was canceled or timed out.
const afterEnd = 2 * time.Second

// afterwards is the context of what comes after the call: its own, or a short one where that has ended.
func (c *call) afterwards() (context.Context, context.CancelFunc) {
	if c.ctx.Err() == nil {
		return c.ctx, func() {}
	}
	return context.WithTimeoutCause(context.WithoutCancel(c.ctx), afterEnd,
		fmt.Errorf("it took longer than the %s that hooks have after a call was ended", afterEnd))
}
