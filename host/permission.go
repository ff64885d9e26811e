package host

import (
	"context"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// permission decides whether the call may run, and asks if need be (AT-117). The call goes on under the snapshot of
// mode and rules that was in force when it was approved.
func (c *call) permission(ctx context.Context) error {
	d := c.hinted.on(c.decide())
	if grants, ok := c.overridden(); ok && (d.Behavior == agenttool.Allow || modeAsks(d)) {
		d.Behavior, d.Grants, d.Source, d.SuggestedUpdates = agenttool.Allow, slices.Concat(d.Grants, grants), agenttool.SourceCommand, nil
		d.Reason = &agenttool.DecisionReason{Type: "sandbox_override", Detail: "a person granted what an earlier attempt was kept from"}
	}
	if d.Behavior == agenttool.Ask {
		h, err := c.permissionRequestHooks(ctx, &d)
		if err != nil {
			return err
		}
		if h.rewritten {
			d = c.hinted.on(c.decide())
		}
		d = h.on(d)
	}
	switch d.Behavior {
	case agenttool.Allow:
		c.decided(d)
		return c.host.grants.confine(c.bound, d.Grants)
	case agenttool.Deny:
		c.decided(d)
		return denied(d)
	}
	for range maxAttempts {
		answer, err := c.ask(ctx, d, false)
		if err != nil {
			return err
		}
		c.permissionDecisionHooks(ctx, answer.Decision)
		var again bool
		if d, again, err = c.answered(ctx, answer); err != nil || !again {
			return err
		}
	}
	return denied(d)
}

// answered goes on with the answer of a prompt. again reports that the input, as a person edited it, is one that asks for itself: it
// is protected, or a rule wants it asked.
func (c *call) answered(ctx context.Context, answer prompt.Outcome) (d agenttool.Decision, again bool, err error) {
	switch {
	case answer.Behavior == agenttool.Deny && answer.ByRule:
		return d, false, denied(answer.Decision)
	case answer.Behavior == agenttool.Deny:
		return d, false, rejected(answer)
	}
	c.policy = c.host.rules.Policy()
	if answer.UpdatedInput != nil {
		if err := c.rebind(ctx, answer.UpdatedInput); err != nil {
			return d, false, err
		}
	}
	d = c.hinted.on(c.decide())
	switch {
	case d.Behavior == agenttool.Deny: // a deny that came meanwhile, or that the edited input meets
		c.decided(d)
		return d, false, denied(d)
	case d.Behavior == agenttool.Ask && answer.UpdatedInput != nil && (d.BlockedPath != "" || len(d.RuleRefs) > 0):
		return d, true, nil
	}
	if err := c.host.grants.confine(c.bound, slices.Concat(d.Grants, answer.Grants)); err != nil {
		return d, false, err
	}
	c.feedback = answer.Feedback
	c.to(agenttool.StatusApproved, "")
	return d, false, nil
}

// request is what is decided about.
func (c *call) request() permissions.Request {
	return permissions.Request{
		Tool: c.tool.Declaration.Name, ByPerson: c.req.Person, RunsCode: slices.Contains(c.tool.Permission.AccessKinds, "code_execution"), Facts: c.bound.Facts(),
	}
}

// decide asks the policy and completes its record.
func (c *call) decide() agenttool.Decision { return c.complete(c.policy.Decide(c.request())) }

// complete fills what a decision about the call has of its own.
func (c *call) complete(d agenttool.Decision) agenttool.Decision {
	return c.host.prompts.Complete(d, c.inv.InvocationID)
}

// decided records a decision that needs no answer.
func (c *call) decided(d agenttool.Decision) {
	c.refer(d)
	c.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
	c.permissionDecisionHooks(c.ctx, d)
}

func (c *call) refer(d agenttool.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv.PermissionDecisionRefs = append(c.inv.PermissionDecisionRefs, string(d.DecisionID))
}

func denied(d agenttool.Decision) error {
	kind, message := d.Reason.Type, d.Reason.Detail
	if kind == "subcommand_results" || kind == "policy" { // which a rule decided
		kind = "rule"
	}
	if !strings.HasPrefix(message, "denied ") {
		message = "denied: " + message
	}
	e := agenttool.Failure(agenttool.PermissionDenied, "denied_by_"+kind, message)
	e.BlockedPath, e.PolicyRefs = d.BlockedPath, d.RuleRefs
	return e
}

func rejected(a prompt.Outcome) error {
	return agenttool.Failure(agenttool.ApprovalRejected, "rejected_by_person", "a person looked at the call and said no"+said(a.Feedback))
}
