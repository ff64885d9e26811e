package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// approval decides whether a call may run, and asks a person if need be. The call's goroutine alone changes it.
type approval struct {
	c      *call
	policy permissions.Policy // the snapshot that it decides under
	hinted hint               // the opinion of the hooks of pre_tool_use

	attempt int      // 2 and more: the call ran before, and the sandbox refused it something
	wanted  []string // grants that would permit it
	granted []string // of them, by a person, for the next attempt
	consent
	wall wall // what it was refused and asked about while it ran
}

// consent is the answer of the person who allowed the call.
type consent struct {
	feedback string   // of the person who allowed the call, for the model
	opened   []string // directories that it makes, and that stay open
}

// permission decides whether the call may run, and asks if need be (AT-117). The call goes on under the snapshot of
// mode and rules that was in force when it was approved.
func (a *approval) permission(ctx context.Context) error {
	d := a.hinted.on(a.decide())
	if grants, ok := a.overridden(); ok && (d.Behavior == agenttool.Allow || modeAsks(d)) {
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
		a.decided(d)
		return a.c.host.grants.confine(a.c.bound, d.Grants)
	case agenttool.Deny:
		a.decided(d)
		return denied(d)
	}
	for range maxAttempts {
		answer, err := a.ask(ctx, d, false)
		if err != nil {
			return err
		}
		a.permissionDecisionHooks(ctx, answer.Decision)
		var again bool
		if d, again, err = a.answered(ctx, answer); err != nil || !again {
			return err
		}
	}
	return denied(d)
}

// answered goes on with the answer of a prompt. again reports that the input, as a person edited it, is one that asks for itself: it
// is protected, or a rule wants it asked.
func (a *approval) answered(ctx context.Context, answer prompt.Outcome) (d agenttool.Decision, again bool, err error) {
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
		a.decided(d)
		return d, false, denied(d)
	case d.Behavior == agenttool.Ask && answer.UpdatedInput != nil && (d.BlockedPath != "" || len(d.RuleRefs) > 0):
		return d, true, nil
	}
	if answer.UpdatedInput != nil {
		a.decided(a.edited(d, answer))
	}
	granted := slices.Concat(d.Grants, answer.Grants)
	if !answer.ByRule {
		granted = append(granted, a.shown()...)
	}
	if err := a.c.host.grants.confine(a.c.bound, granted); err != nil {
		return d, false, err
	}
	a.feedback, a.opened = answer.Feedback, answer.Opens
	a.c.rec.to(agenttool.StatusApproved, "")
	return d, false, nil
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

// complete fills what a decision about the call has of its own.
func (a *approval) complete(d agenttool.Decision) agenttool.Decision {
	return a.c.host.prompts.Complete(d, a.c.rec.id)
}

// decided records a decision that needs no answer.
func (a *approval) decided(d agenttool.Decision) {
	a.c.rec.decided(d)
	a.note(d)
	a.c.rec.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
	a.permissionDecisionHooks(a.c.ctx, d)
}

func denied(d agenttool.Decision) error {
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

// permissionDecisionHooks tells the hooks of permission_decision what was decided (AT-174).
func (a *approval) permissionDecisionHooks(ctx context.Context, d agenttool.Decision) {
	if a.c.hooks == nil {
		return
	}
	a.c.hooks.told(d)
	a.c.hooks.run(ctx, hook.PermissionDecision, a.c.situation)
}

// consult runs the hooks of an event before the call and applies their answers, except those about permission. A failure blocks
// the call (AT-183).
func (a *approval) consult(ctx context.Context, e hook.Event) (hint, error) {
	var o hook.Outcome
	if a.c.hooks != nil {
		o = a.c.hooks.run(ctx, e, a.c.situation)
	}
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
	case o.Input == nil || len(changedFields(a.c.rec.seen(), o.Input)) == 0:
		return h, nil
	}
	h.rewritten = true
	return h, a.rewrite(ctx, e, o)
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
