package host

import (
	"context"
	"errors"
	"slices"
	"strings"

	"toolhost/agenttool"
)

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
