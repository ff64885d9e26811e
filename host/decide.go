package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// maxAttempts is how often a call whose approved change went stale is shown to a person again.
const maxAttempts = 3

// permission decides whether the call may run, and asks if need be (AT-117). The call goes on under the snapshot of
// mode and rules that was in force when it was approved.
func (a *approval) permission(ctx context.Context) error {
	d := a.hinted.on(a.decide())
	a.agreed = agenttool.Protected{}
	if grants, ok := a.overridden(); ok && (d.Behavior == agenttool.Allow || modeAsks(d)) {
		a.agreed = agreedBy(grants, d.Protected)
		d.Behavior, d.Grants, d.Source, d.SuggestedUpdates = agenttool.Allow, slices.Concat(d.Grants, grants), agenttool.SourceCommand, nil
		d.Reason = &agenttool.DecisionReason{Type: "sandbox_override", Detail: "a person granted what an earlier attempt was kept from"}
	}
	if d.Behavior == agenttool.Ask {
		h, err := a.permissionRequestHooks(ctx, &d)
		if err != nil {
			return err
		}
		if h.rewritten {
			d = a.hinted.on(a.decide())
		}
		d = h.on(d)
	}
	switch d.Behavior {
	case agenttool.Allow:
		if err := a.decided(ctx, d); err != nil {
			return err
		}
		if d.Reason.Type != "mode" || a.policy.Mode == permissions.Bypass {
			a.warrant()
		}
		return a.c.host.grants.confine(a.c.bound, d.Grants, a.agreed)
	case agenttool.Deny:
		return a.decided(ctx, d)
	}
	for range maxAttempts {
		answer, err := a.ask(ctx, d, false)
		if err != nil {
			return err
		}
		a.opened = append(a.opened, answer.Opens...) // also where the call does not run: then they are shut again
		if err := a.permissionDecisionHooks(ctx, answer.Decision); err != nil {
			return err
		}
		var again bool
		if d, again, err = a.answered(ctx, d.Protected, answer); err != nil || !again {
			return err
		}
	}
	return denied(d)
}

// agreedBy are the protected names that a person opens with grants for paths, which name them, beside those of a prompt.
func agreedBy(grants []string, shown agenttool.Protected) agenttool.Protected {
	shown.Paths = slices.Clone(shown.Paths)
	for _, grant := range grants {
		if path, ok := strings.CutPrefix(grant, "write:"); ok {
			shown.Paths = append(shown.Paths, path)
		}
	}
	return shown
}

// errNamesChanged is why a call is decided anew: it would change protected names that its decision did not know.
var errNamesChanged = errors.New("its paths are protected now")

// outdated reports whether a call was kept from a file by rules that came after its decision: those give the reason.
func (a *approval) outdated(err error) bool {
	return errors.Is(err, agenttool.ErrSecret) && a.c.host.rules.Policy().Snapshot != a.policy.Snapshot
}

// still fails if the call would now change protected names that its decision did not know: their owner may have made them so meanwhile.
func (a *approval) still() error {
	now := a.policy.Protected(a.request())
	if a.agreed.Covers(now) || a.policy.Mode == permissions.Bypass {
		return nil
	}
	what := now.Paths[0]
	if i := slices.IndexFunc(now.Paths, func(path string) bool { return !slices.Contains(a.agreed.Paths, path) }); i >= 0 {
		what = now.Paths[i]
	}
	return agenttool.Failure(agenttool.PolicyBlocked, "names_changed",
		what+" became protected, or names in it did, after the call was decided: nothing was done; make the call again, and it is decided anew").Because(errNamesChanged)
}

// answered goes on with the answer of a prompt; shown are the protected names that it was about. again reports that the call asks anew: its
// input, as a person edited it, is one that asks for itself, or more is protected now than the prompt said.
func (a *approval) answered(ctx context.Context, shown agenttool.Protected, answer prompt.Outcome) (d agenttool.Decision, again bool, err error) {
	switch {
	case answer.Behavior == agenttool.Deny && answer.ByRule:
		return d, false, denied(answer.Decision)
	case answer.Behavior == agenttool.Deny:
		return d, false, rejected(answer)
	}
	a.policy = a.rules()
	if answer.UpdatedInput != nil {
		if err := a.c.rebind(ctx, answer.UpdatedInput); err != nil {
			return d, false, err
		}
	}
	d = a.hinted.on(a.decide())
	switch {
	case d.Behavior == agenttool.Deny: // a deny that came meanwhile, or that the edited input meets
		return d, false, a.decided(ctx, d)
	case d.Behavior == agenttool.Ask && answer.UpdatedInput != nil && (d.BlockedPath != "" || len(d.RuleRefs) > 0):
		return d, true, nil
	case !shown.Covers(d.Protected) || d.Behavior == agenttool.Ask && answer.ByRule:
		return d, true, nil
	}
	if answer.UpdatedInput != nil {
		if err := a.decided(ctx, a.edited(d, answer)); err != nil {
			return d, false, err
		}
	}
	granted := slices.Concat(d.Grants, answer.Grants)
	if !answer.ByRule {
		granted = append(granted, a.shown()...)
	}
	a.agreed = agreedBy(answer.Grants, d.Protected)
	if err := a.c.host.grants.confine(a.c.bound, granted, a.agreed); err != nil {
		return d, false, err
	}
	a.warrant()
	a.feedback = answer.Feedback
	a.c.rec.to(agenttool.StatusApproved, "")
	return d, false, nil
}

// warrant tells the call that more than the mode lets it run.
func (a *approval) warrant() {
	if bound, ok := a.c.bound.(agenttool.Warranted); ok {
		bound.Warranted()
	}
}

// edited is the decision that lets an edited input run. The rules decide d about it, and the answer allows a call that they ask about.
func (a *approval) edited(d agenttool.Decision, answer prompt.Outcome) agenttool.Decision {
	d.RequestRef, d.Rewrite = answer.DecisionID, agenttool.Rewrite{UserModified: true}
	if d.Behavior == agenttool.Ask {
		d.Behavior, d.Source, d.SuggestedUpdates = agenttool.Allow, answer.Decision.Source, nil
		d.Reason = answer.Decision.Reason
	}
	return d
}

// shown are grants for the paths outside of the workspace that a prompt showed as written: the user who said yes means them.
func (a *approval) shown() (grants []string) {
	if _, ok := a.c.bound.(agenttool.Confined); !ok {
		return nil
	}
	for _, path := range a.c.bound.Facts().Writes {
		if path.Root == "" && path.Resolved != "" && !path.Private && !path.Follows {
			grants = append(grants, "write:"+path.Resolved)
		}
	}
	return grants
}

// overridden gives a call what was granted to it after an earlier attempt. It reports whether there was anything.
func (a *approval) overridden() ([]string, bool) {
	if a.granted != nil {
		return a.granted, true
	}
	grants, ok := a.c.host.overrides.take(a.identity)
	a.granted = grants
	return grants, ok
}

// identity identifies a call: its tool, its input, and its directory.
func (a *approval) identity() [sha256.Size]byte {
	input, _ := agenttool.Encode(a.c.bound.Input()) // it was encoded before
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", a.c.tool.Declaration.Name, a.c.dir, input))
}

// preHooks runs the hooks of pre_tool_use (AT-116, AT-170). Their answers about permission are kept for that phase.
func (a *approval) preHooks(ctx context.Context) (err error) {
	a.hinted, err = a.consult(ctx, hook.PreToolUse)
	return err
}

// permissionRequestHooks runs the hooks of permission_request before a user is asked (AT-173); d is the decision that
// asks, and gets their messages for the user. If a hook rewrote the call it is bound again,
// and has to be decided again; hooks that rewrote it do not run again. An error ends the call.
func (a *approval) permissionRequestHooks(ctx context.Context, d *agenttool.Decision) (hint, error) {
	if a.c.hooks == nil {
		return hint{}, nil
	}
	if a.c.hooks.asked != nil {
		return *a.c.hooks.asked, nil
	}
	a.c.hooks.told(*d)
	h, err := a.consult(ctx, hook.PermissionRequest)
	if err != nil {
		return hint{}, err
	}
	if h.rewritten {
		a.c.hooks.asked = &hint{behavior: h.behavior, said: h.said}
	}
	if h.behavior == agenttool.Ask {
		a.hinted = hint{behavior: h.behavior, said: h.said} // no rule that is added meanwhile answers the prompt
	}
	if len(a.c.hooks.messages) > 0 {
		d.Extra = withExtra(d.Extra, "hook_messages", messageRecords(a.c.hooks.messages))
	}
	return h, nil
}

// consult runs the hooks of an event before the call and applies their answers, except those about permission. A failure blocks
// the call (AT-183).
func (a *approval) consult(ctx context.Context, e hook.Event) (hint, error) {
	var o hook.Outcome
	if a.c.hooks != nil {
		o = a.c.hooks.run(ctx, e, a.c.situation)
	}
	if err := blocked(ctx, e, o); err != nil {
		return hint{}, err
	}
	h := hint{behavior: o.Behavior, said: o.Why}
	if o.Behavior == agenttool.Deny || o.Input == nil || len(changedFields(a.c.rec.seen(), o.Input)) == 0 {
		return h, nil
	}
	h.rewritten = true
	return h, a.rewrite(ctx, e, o)
}

// blocked is why the hooks of an event before the call keep it from running, but for a denial, which is the policy's to record: one
// stops it, or one failed, and nobody knows what it would have said (AT-181, AT-183).
func blocked(ctx context.Context, e hook.Event, o hook.Outcome) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case o.Stop != nil:
		message := fmt.Sprintf("the %s hook %s stopped the call", e, o.Stop.Name)
		if o.Stop.Text != "" {
			message += ": " + o.Stop.Text
		}
		return agenttool.Failure(agenttool.HookBlocked, "hook_stopped", message)
	case len(o.Failures) > 0 && o.Behavior != agenttool.Deny:
		return o.Failures[0]
	}
	return nil
}

// rewrite binds what a hook wants to run instead.
func (a *approval) rewrite(ctx context.Context, e hook.Event, o hook.Outcome) error {
	a.c.hooks.rewriter = o.InputBy
	err := a.c.rebind(ctx, o.Input)
	a.c.hooks.rewriter = hook.Message{}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return agenttool.Failure(agenttool.HookBlocked, "input_mutation_failed",
		fmt.Sprintf("the %s hook %s changed the input to one that cannot be used: %v", e, o.InputBy.Name, err)).Because(err)
}

// request is the request that the policy decides about.
func (a *approval) request() permissions.Request {
	return permissions.Request{
		Tool: a.c.tool.Declaration.Name, ByPerson: a.c.req.Person, RunsCode: slices.Contains(a.c.tool.Permission.AccessKinds, "code_execution"), Facts: a.c.bound.Facts(),
	}
}

// rules are those in force for the call.
func (a *approval) rules() permissions.Policy {
	return a.c.host.rules.Policy().For(a.c.req.Caller.Threads)
}

// decide asks the policy and completes its record.
func (a *approval) decide() agenttool.Decision { return a.complete(a.policy.Decide(a.request())) }

// complete fills the fields of a decision that are the call's own.
func (a *approval) complete(d agenttool.Decision) agenttool.Decision {
	return a.c.host.prompts.Complete(d, a.c.rec.id)
}

// decided records a decision that needs no answer. It returns why the call does not run: it is denied, or a hook stops it.
func (a *approval) decided(ctx context.Context, d agenttool.Decision) error {
	a.c.rec.decided(d)
	a.note(d)
	a.c.rec.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
	if err := a.permissionDecisionHooks(ctx, d); err != nil || d.Behavior != agenttool.Deny {
		return err
	}
	return denied(d)
}

// permissionDecisionHooks tells the hooks of permission_decision what was decided (AT-174). They may stop a call that was allowed. One
// that was denied stays so: that a hook of it failed is a warning.
func (a *approval) permissionDecisionHooks(ctx context.Context, d agenttool.Decision) error {
	if a.c.hooks == nil {
		return nil
	}
	a.c.hooks.told(d)
	o := a.c.hooks.run(ctx, hook.PermissionDecision, a.c.situation)
	if d.Behavior != agenttool.Deny {
		return blocked(ctx, hook.PermissionDecision, o)
	}
	for _, f := range o.Failures {
		a.c.hooks.warn(f.Message)
	}
	return nil
}

func denied(d agenttool.Decision) error {
	if d.Failure != nil {
		return d.Failure
	}
	kind, message := d.Reason.Type, d.Reason.Detail
	if kind == "subcommand_results" || kind == "policy" { // which a rule decided
		kind = "rule"
	}
	if !strings.HasPrefix(message, "denied ") {
		message = "denied: " + message
	}
	if kind == "rule" {
		message += ": do it in another way, or ask the user to change the rule"
	}
	e := agenttool.Failure(agenttool.PermissionDenied, "denied_by_"+kind, message)
	e.BlockedPath, e.PolicyRefs = d.BlockedPath, d.RuleRefs
	return e
}

func rejected(a prompt.Outcome) error {
	return agenttool.Failure(agenttool.ApprovalRejected, "rejected_by_person", "a person looked at the call and said no"+said(a.Feedback))
}

// said is a user's feedback, at the end of a sentence.
func said(feedback string) string {
	if feedback == "" {
		return ""
	}
	return ": " + feedback
}

// ask shows the call to the attached users and waits for the answer, its expiry, or the call's end.
func (a *approval) ask(ctx context.Context, d agenttool.Decision, override bool) (prompt.Outcome, error) {
	h := a.c.host
	waits := h.live.beginWait(a.c)
	defer h.live.started(a.c)
	if !waits || !h.prompts.Invite(a.c.req.Caller.Asked) {
		a.unasked(ctx, d)
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	d.ExpiresAt = h.prompts.Expires()
	if err := a.preview(ctx, &d); err != nil {
		return prompt.Outcome{}, err
	}
	a.c.turn.free() // an unanswered prompt delays no other call
	a.c.turn.pass()
	h.places.stays(a.c)
	a.c.rec.decided(d)
	a.note(d)
	a.c.rec.update(func(inv *agenttool.Invocation) { inv.ApprovalRequestRef = string(d.DecisionID) })
	a.c.rec.to(agenttool.StatusAwaitingApproval, "")
	p, err := h.prompts.Open(a.question(d, override))
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	stop := announceWait(a.c, agenttool.StatusAwaitingApproval, agenttool.PhasePermission, agenttool.Progress{Status: "waiting_for_permission", Message: "waits for a person"})
	answer, err := p.Answer(ctx)
	stop()
	h.live.started(a.c)
	if err != nil {
		a.withdrawn(d, err)
		return prompt.Outcome{}, err
	}
	a.c.rec.decided(answer.Decision)
	a.note(answer.Decision)
	if answer.Behavior == agenttool.Deny && answer.Unseen != "" {
		return answer, prompt.Unanswerable(d, answer.Unseen)
	}
	return answer, a.c.again(ctx)
}

// maxTold is the longest input, in bytes, that the event of a prompt holds whole: it is as long as commands can be. Longer inputs hold
// the content of a file, and their diff is shown.
const maxTold = 256 << 10

// asShown is the input in the event of a prompt. The user who answers sees all of it.
func (a *approval) asShown(input json.RawMessage) any {
	if len(input) > maxTold {
		return a.c.rec.shown(input)
	}
	return input
}

// unasked records that a call which asks is denied, since no user is there (AT-150, AT-165).
func (a *approval) unasked(ctx context.Context, d agenttool.Decision) {
	reason := *d.Reason
	reason.Type, reason.Detail = "async_agent", prompt.Nobody+": "+reason.Detail
	d.Behavior, d.Reason = agenttool.Deny, &reason
	_ = a.decided(ctx, d) // the caller has a better reason
}

// question is the prompt of the call.
func (a *approval) question(d agenttool.Decision, override bool) prompt.Question {
	input, _ := agenttool.Encode(a.c.bound.Input()) // it was encoded before
	q := prompt.Question{
		Call: asking{a, a.request()}, Input: a.asShown(input), Override: override, Asked: a.c.listener(),
		Shown: prompt.Prompt{
			Decision: d, Tool: a.c.tool.Declaration.Name, Input: input, Facts: a.c.bound.Facts(), Dir: a.c.dir, Grants: a.wanted,
			Attempt: a.attempt, AskedAt: agenttool.Timestamp(a.c.host.o.Now()),
		},
	}
	if !override {
		q.Shown.Opens, q.MayOpen = openings(a.c)
	}
	if confined, ok := a.c.bound.(agenttool.Profiled); ok {
		q.Shown.Sandbox = &prompt.Sandbox{Level: a.c.host.o.Level, Profile: confined.Profile(), Grants: d.Grants}
	}
	if a.c.actsOnJobs() { // the same text may be typed twice
		q.Alone = string(a.c.rec.id)
	}
	return q
}

// asking is the face that a call shows to the broker of prompts.
type asking struct {
	*approval
	of permissions.Request // the request that it asks about
}

// Invocation implements prompt.Call.
func (a asking) Invocation() agenttool.InvocationID { return a.c.rec.id }

// Ended implements prompt.Call.
func (a asking) Ended() bool { return !a.c.runs() }

// Record implements prompt.Call.
func (a asking) Record(t agenttool.EventType, pairs ...any) error { return a.c.rec.write(t, pairs...) }

// Judge implements prompt.Call.
func (a asking) Judge(p permissions.Policy) agenttool.Decision {
	return a.hinted.on(p.For(a.c.req.Caller.Threads).Decide(a.of))
}

// Coverage implements prompt.Call.
func (a asking) Coverage(p permissions.Policy) []permissions.Covered {
	return p.For(a.c.req.Caller.Threads).Coverage(a.of)
}

// CheckAnswer implements prompt.Call: it reports whether an edited input (nil: the one that was shown) could be bound, and be given the grants.
// It does no IO.
func (a asking) CheckAnswer(input []byte, grants []string) error {
	if input == nil {
		input = a.c.input
	}
	schema, err := a.c.tool.compile()
	if err == nil {
		err = schema.Check(input)
	}
	var bound agenttool.Call
	if err == nil {
		bound, err = a.c.tool.tool.Bind(a.c.scope(), input)
	}
	if err != nil {
		return refuse("updated_input: %v", err)
	}
	if err := a.c.host.grants.confine(bound, grants, agenttool.Protected{}); err != nil {
		return refuse("grants: %v", err)
	}
	return nil
}

// withdrawn tells those who look at a prompt that it has ended without an answer; asked is the decision that asked.
func (a *approval) withdrawn(asked agenttool.Decision, why error) {
	d := a.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Deny, Mode: asked.Mode, Reply: agenttool.Reply{RequestRef: asked.DecisionID},
		Reason: &agenttool.DecisionReason{Type: "other", Detail: agenttool.AsError(why, agenttool.Canceled).Message},
	})
	a.note(d)
	_ = a.c.rec.write(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d) // it has ended, recorded or not
}

// preview adds what the call would change to the decision that asks.
func (a *approval) preview(ctx context.Context, d *agenttool.Decision) error {
	p, ok := a.c.bound.(agenttool.Previewer)
	if !ok {
		return nil
	}
	shown, err := p.Preview(ctx)
	if err != nil {
		return a.c.invalid(agenttool.PhaseValidateValues, err)
	}
	d.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: shown.Diff, Partial: shown.Partial, MediaType: "text/x-diff", Name: shown.Digest}}
	return nil
}

// note remembers a decision about a call. Calls that ran without a rule or a person are left out.
func (a *approval) note(d agenttool.Decision) {
	if d.Behavior == agenttool.Allow && len(d.RuleRefs) == 0 && d.RequestRef == "" {
		return
	}
	request, why := a.request(), ""
	facts := *request.Facts // a copy: the bound call, and its whole input, would stay with its own
	request.Facts = &facts
	if len(facts.Parts)+len(facts.Reads)+len(facts.Writes) > maxParts || request.RunsCode && len(a.c.input) > maxCode {
		request.Facts = nil
	}
	switch {
	case d.AnsweredBy != nil && d.Behavior == agenttool.Deny:
		why = "a person said no" + said(d.AcceptFeedback)
	case d.Reason != nil:
		why = cut.Characters(d.Reason.Detail, maxSubject)
	}
	a.c.host.live.recent.add(recentCall{a.c.rec.id, a.c.host.o.Now(), subjectOf(a.c.input), request.Tool, request, d.Behavior, why})
}

// wasKept reports whether a call failed because its sandbox refused something that a user could grant, and whether a user can answer.
func (a *approval) wasKept(err error) bool {
	return errors.Is(err, agenttool.SandboxViolation) && len(a.grantable()) > 0 && a.c.out.Job == nil && !a.c.out.Yielded &&
		a.c.ctx.Err() == nil && a.policy.Mode.Asks() && a.c.host.prompts.Reaches(a.c.req.Caller.Asked)
}

// grantable are the grants for the refused accesses of a call that a user may be asked for: none opens toolhost's own files, or a path
// or host that a rule denies.
func (a *approval) grantable() []string {
	return slices.DeleteFunc(slices.Clone(a.c.out.Wanted), func(grant string) bool {
		if a.wall.refused(grant) {
			return true
		}
		if _, denied := a.c.host.rules.Policy().Forbids(grant); denied {
			return true
		}
		return a.c.host.grants.opensOwn(grant)
	})
}

// override asks whether a call may have the access that its sandbox refused (AT-147). If it is allowed, a call that only reads runs
// again, as the next attempt of the same invocation, and the result is nil. A call that may have done part of its work does not: its
// error says so, and the next call with the same input gets the grants.
func (a *approval) override(ctx context.Context, failure error) error {
	a.attempt, a.wanted = max(a.attempt, 1)+1, a.grantable()
	d := a.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Ask, Mode: string(a.policy.Mode), BlockedPath: agenttool.AsError(failure, agenttool.SandboxViolation).BlockedPath,
		Reason: &agenttool.DecisionReason{Type: "sandbox_override", Detail: "it ran, and the sandbox kept it from " + strings.Join(a.wanted, ", ")},
	})
	answer, err := a.ask(ctx, d, true)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case answer.Unseen != "":
		return hinted(failure, "a prompt asked whether it may have the refused access, and "+answer.Unseen)
	case err != nil:
		return failure
	case answer.Behavior != agenttool.Allow:
		return hinted(failure, "a user looked at the refused access and said no"+said(answer.Feedback))
	}
	grants := answer.Grants
	if len(grants) == 0 {
		grants = a.wanted
	}
	grants = slices.Concat(a.granted, a.wall.given(), grants) // grants of one call add up
	if !a.c.readOnly() {
		a.c.host.overrides.add(a.identity(), grants)
		return hinted(failure, "partly done: the refused access ("+strings.Join(grants, ", ")+") is granted now. Look what it did, and make the same call again"+
			said(answer.Feedback))
	}
	a.granted, a.policy, a.feedback = grants, a.rules(), answer.Feedback
	return a.c.rebind(ctx, a.c.input)
}

// hinted is a failure that says how to go on.
func hinted(failure error, hint string) error {
	e := *agenttool.AsError(failure, agenttool.SandboxViolation)
	e.Hint = hint
	return &e
}
