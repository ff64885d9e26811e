package host

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

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
