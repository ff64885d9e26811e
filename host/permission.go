package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
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
