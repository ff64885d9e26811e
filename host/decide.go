package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// approval is what was decided about a call, and what a person gave it. The call's goroutine alone changes it, but for the wall.
type approval struct {
	policy permissions.Policy // the snapshot that the call is decided under
	hint   hint               // of the hooks of pre_tool_use

	attempt int                 // 2 and more: the call ran before, and the sandbox refused it something
	wanted  []string            // grants that would permit that
	grants  []string            // those that a person gave it for this attempt; nil: none
	names   agenttool.Protected // the protected names that a person let it change

	consent consent
	wall    wall // accesses that were refused, and prompts for them, while it ran
}

// consent is the answer of the person who allowed a call, and the grants that stay open because of it.
type consent struct {
	feedback string   // for the model
	opens    []string // directories that the call makes
}

// maxAttempts is how often a call whose approved change went stale is shown to a person again.
const maxAttempts = 3

// permission decides whether the call may run, and asks if need be (AT-117). The call goes on under the snapshot of
// mode and rules that was in force when it was approved.
func (c *call) permission(ctx context.Context) error {
	a := &c.approval
	d := a.hint.on(c.decide())
	a.names = agenttool.Protected{}
	if a.grants == nil {
		a.grants = c.host.overrides.take(c.identity)
	}
	if a.grants != nil && (d.Behavior == agenttool.Allow || modeAsks(d)) {
		a.names = namesOpenedBy(a.grants, d.Protected)
		d.Behavior, d.Grants, d.Source, d.SuggestedUpdates = agenttool.Allow, slices.Concat(d.Grants, a.grants), agenttool.SourceCommand, nil
		d.Reason = &agenttool.DecisionReason{Type: "sandbox_override", Detail: "a person granted what an earlier attempt was kept from"}
	}
	if d.Behavior == agenttool.Ask {
		h, err := c.permissionRequestHooks(ctx, &d)
		if err != nil {
			return err
		}
		if h.rewritten {
			d = a.hint.on(c.decide())
		}
		d = h.on(d)
	}
	switch d.Behavior {
	case agenttool.Allow:
		if err := c.recordDecision(ctx, d); err != nil {
			return err
		}
		if d.Reason.Type != "mode" || a.policy.Mode == permissions.Bypass {
			c.warrant()
		}
		return c.host.grants.confine(c.bound, d.Grants, a.names)
	case agenttool.Deny:
		return c.recordDecision(ctx, d)
	}
	for range maxAttempts {
		answer, err := c.ask(ctx, d, false)
		if err != nil {
			return err
		}
		a.consent.opens = append(a.consent.opens, answer.Opens...) // also where the call does not run: then they are shut again
		if err := c.permissionDecisionHooks(ctx, answer.Decision); err != nil {
			return err
		}
		var again bool
		if d, again, err = c.answered(ctx, d.Protected, answer); err != nil || !again {
			return err
		}
	}
	return denied(d)
}

// permissionRequest is the request that the policy decides about.
func (c *call) permissionRequest() permissions.Request {
	return permissions.Request{
		Tool: c.tool.Declaration.Name, ByPerson: c.req.Person, Facts: c.bound.Facts(),
		RunsCode: slices.Contains(c.tool.Permission.AccessKinds, "code_execution"),
	}
}

// rulesInForce are those for the call now.
func (c *call) rulesInForce() permissions.Policy {
	return c.host.rules.Policy().For(c.req.Caller.Threads)
}

// decide asks the policy and completes its record.
func (c *call) decide() agenttool.Decision {
	return c.completeDecision(c.approval.policy.Decide(c.permissionRequest()))
}

// completeDecision fills the fields of a decision that are the call's own.
func (c *call) completeDecision(d agenttool.Decision) agenttool.Decision {
	return c.host.prompts.Complete(d, c.rec.id)
}

// recordDecision records a decision that needs no answer. It returns why the call does not run: it is denied, or a hook stops it.
func (c *call) recordDecision(ctx context.Context, d agenttool.Decision) error {
	c.rec.decided(d)
	c.remember(d)
	c.rec.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
	if err := c.permissionDecisionHooks(ctx, d); err != nil || d.Behavior != agenttool.Deny {
		return err
	}
	return denied(d)
}

// remember keeps a decision among those of recent calls. Calls that ran without a rule or a person are left out.
func (c *call) remember(d agenttool.Decision) {
	if d.Behavior == agenttool.Allow && len(d.RuleRefs) == 0 && d.RequestRef == "" {
		return
	}
	request, why := c.permissionRequest(), ""
	facts := *request.Facts // a copy: the bound call, and its whole input, would stay with its own
	request.Facts = &facts
	if len(facts.Parts)+len(facts.Reads)+len(facts.Writes) > maxParts || request.RunsCode && len(c.input) > maxCode {
		request.Facts = nil
	}
	switch {
	case d.AnsweredBy != nil && d.Behavior == agenttool.Deny:
		why = "a person said no" + said(d.AcceptFeedback)
	case d.Reason != nil:
		why = cut.Characters(d.Reason.Detail, maxSubject)
	}
	c.host.live.recent.add(recentCall{c.rec.id, c.host.o.Now(), subjectOf(c.input), request.Tool, request, d.Behavior, why})
}

// denied is the error of a call that a decision denies.
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

// said is a user's feedback, at the end of a sentence.
func said(feedback string) string {
	if feedback == "" {
		return ""
	}
	return ": " + feedback
}

// warrant tells the call that more than the mode lets it run.
func (c *call) warrant() {
	if bound, ok := c.bound.(agenttool.Warranted); ok {
		bound.Warranted()
	}
}

// namesOpenedBy are the protected names that a person opens with grants for paths, which name them, beside those of a prompt.
func namesOpenedBy(grants []string, shown agenttool.Protected) agenttool.Protected {
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

// decisionHolds fails if the call would now change protected names that its decision did not know: their owner may have made them
// so meanwhile.
func (c *call) decisionHolds() error {
	names, now := c.approval.names, c.approval.policy.Protected(c.permissionRequest())
	if names.Covers(now) || c.approval.policy.Mode == permissions.Bypass {
		return nil
	}
	what := now.Paths[0]
	if i := slices.IndexFunc(now.Paths, func(path string) bool { return !slices.Contains(names.Paths, path) }); i >= 0 {
		what = now.Paths[i]
	}
	return agenttool.Failure(agenttool.PolicyBlocked, "names_changed", what+" became protected, or names in it did, after the call was decided: "+
		"nothing was done; make the call again, and it is decided anew").Because(errNamesChanged)
}

// outdated reports whether a call was kept from a file by rules that came after its decision: those give the reason.
func (c *call) outdated(err error) bool {
	return errors.Is(err, agenttool.ErrSecret) && c.host.rules.Policy().Snapshot != c.approval.policy.Snapshot
}

// preHooks runs the hooks of pre_tool_use (AT-116, AT-170). Their answers about permission are kept for that phase.
func (c *call) preHooks(ctx context.Context) (err error) {
	c.approval.hint, err = c.consult(ctx, hook.PreToolUse)
	return err
}

// permissionRequestHooks runs the hooks of permission_request before a user is asked (AT-173); d is the decision that
// asks, and gets their messages for the user. If a hook rewrote the call it is bound again,
// and has to be decided again; hooks that rewrote it do not run again. An error ends the call.
func (c *call) permissionRequestHooks(ctx context.Context, d *agenttool.Decision) (hint, error) {
	if c.hooks == nil {
		return hint{}, nil
	}
	if c.hooks.asked != nil {
		return *c.hooks.asked, nil
	}
	c.hooks.told(*d)
	h, err := c.consult(ctx, hook.PermissionRequest)
	if err != nil {
		return hint{}, err
	}
	if h.rewritten {
		c.hooks.asked = &hint{behavior: h.behavior, said: h.said}
	}
	if h.behavior == agenttool.Ask {
		c.approval.hint = hint{behavior: h.behavior, said: h.said} // no rule that is added meanwhile answers the prompt
	}
	if len(c.hooks.messages) > 0 {
		d.Extra = withExtra(d.Extra, "hook_messages", messageRecords(c.hooks.messages))
	}
	return h, nil
}

// permissionDecisionHooks tells the hooks of permission_decision what was decided (AT-174). They may stop a call that was allowed. One
// that was denied stays so: that a hook of it failed is a warning.
func (c *call) permissionDecisionHooks(ctx context.Context, d agenttool.Decision) error {
	if c.hooks == nil {
		return nil
	}
	c.hooks.told(d)
	over := c.own.wait()
	o := c.hooks.run(ctx, hook.PermissionDecision, c.situation)
	over()
	if d.Behavior != agenttool.Deny {
		return blocked(ctx, hook.PermissionDecision, o)
	}
	for _, f := range o.Failures {
		c.hooks.warn(f.Message)
	}
	return nil
}

// consult runs the hooks of an event before the call and applies their answers, except those about permission. A failure blocks
// the call (AT-183).
func (c *call) consult(ctx context.Context, e hook.Event) (hint, error) {
	var o hook.Outcome
	if c.hooks != nil {
		over := c.own.wait()
		o = c.hooks.run(ctx, e, c.situation)
		over()
	}
	if err := blocked(ctx, e, o); err != nil {
		return hint{}, err
	}
	h := hint{behavior: o.Behavior, said: o.Why}
	if o.Behavior == agenttool.Deny || o.Input == nil || len(changedFields(c.rec.seen(), o.Input)) == 0 {
		return h, nil
	}
	h.rewritten = true
	c.hooks.rewriter = o.InputBy
	err := c.rebind(ctx, o.Input)
	c.hooks.rewriter = hook.Message{}
	if err == nil || ctx.Err() != nil {
		return h, err
	}
	return h, agenttool.Failure(agenttool.HookBlocked, "input_mutation_failed",
		fmt.Sprintf("the %s hook %s changed the input to one that cannot be used: %v", e, o.InputBy.Name, err)).Because(err)
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

// ask shows the call to the attached users and waits for the answer, its expiry, or the call's end.
func (c *call) ask(ctx context.Context, d agenttool.Decision, override bool) (prompt.Outcome, error) {
	h := c.host
	waits := h.live.beginWait(c)
	defer h.live.started(c)
	if !waits || !h.prompts.Invite(c.req.Caller.Asked) { // it is denied, since no user is there (AT-150, AT-165)
		unasked, reason := d, *d.Reason
		reason.Type, reason.Detail = "async_agent", prompt.Nobody+": "+reason.Detail
		unasked.Behavior, unasked.Reason = agenttool.Deny, &reason
		_ = c.recordDecision(ctx, unasked) // the caller has a better reason
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	d.ExpiresAt = h.prompts.Expires()
	if err := c.preview(ctx, &d); err != nil {
		return prompt.Outcome{}, err
	}
	c.turn.free() // an unanswered prompt delays no other call
	c.turn.pass()
	h.places.stays(c)
	c.rec.decided(d)
	c.remember(d)
	c.rec.update(func(inv *agenttool.Invocation) { inv.ApprovalRequestRef = string(d.DecisionID) })
	c.rec.to(agenttool.StatusAwaitingApproval, "")
	p, err := h.prompts.Open(c.question(d, override))
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	asks := agenttool.Progress{Status: "waiting_for_permission", Message: "waits for a person"}
	stop := announceWait(c, agenttool.StatusAwaitingApproval, agenttool.PhasePermission, asks)
	over := c.own.wait()
	answer, err := p.Answer(ctx)
	over()
	stop()
	h.live.started(c)
	if err != nil {
		c.promptEnded(d, err)
		return prompt.Outcome{}, err
	}
	c.rec.decided(answer.Decision)
	c.remember(answer.Decision)
	if answer.Behavior == agenttool.Deny && answer.Unseen != "" {
		return answer, prompt.Unanswerable(d, answer.Unseen)
	}
	return answer, c.again(ctx)
}

// preview adds what the call would change to the decision that asks.
func (c *call) preview(ctx context.Context, d *agenttool.Decision) error {
	p, ok := c.bound.(agenttool.Previewer)
	if !ok {
		return nil
	}
	shown, err := p.Preview(ctx)
	if err != nil {
		return c.invalid(agenttool.PhaseValidateValues, err)
	}
	d.ContentBlocks = []agenttool.Content{{
		Type: "diff", Diff: shown.Diff, Partial: shown.Partial, MediaType: "text/x-diff", Name: shown.Digest,
	}}
	return nil
}

// maxTold is the longest input, in bytes, that the event of a prompt holds whole: it is as long as commands can be. Longer inputs hold
// the content of a file, and their diff is shown. The user who answers sees all of it.
const maxTold = 256 << 10

// question is the prompt of the call.
func (c *call) question(d agenttool.Decision, override bool) prompt.Question {
	input, _ := agenttool.Encode(c.bound.Input()) // it was encoded before
	told := json.RawMessage(input)
	if len(input) > maxTold {
		told = c.rec.shown(input)
	}
	q := prompt.Question{
		Call: questioned{c, c.permissionRequest()}, Input: told, Override: override, Asked: c.listener(),
		Shown: prompt.Prompt{
			Decision: d, Tool: c.tool.Declaration.Name, Input: input, Facts: c.bound.Facts(), Dir: c.dir, Grants: c.approval.wanted,
			Attempt: c.approval.attempt, AskedAt: agenttool.Timestamp(c.host.o.Now()),
		},
	}
	if !override {
		q.Shown.Opens, q.MayOpen = openings(c)
	}
	if confined, ok := c.bound.(agenttool.Profiled); ok {
		q.Shown.Sandbox = &prompt.Sandbox{Level: c.host.o.Level, Profile: confined.Profile(), Grants: d.Grants}
	}
	if c.actsOnJobs() { // the same text may be typed twice
		q.Alone = string(c.rec.id)
	}
	return q
}

// questioned is a call as the broker of prompts knows it. It implements prompt.Call.
type questioned struct {
	c       *call
	request permissions.Request // that it asks about
}

func (q questioned) Invocation() agenttool.InvocationID { return q.c.rec.id }
func (q questioned) Ended() bool                        { return !q.c.runs() }
func (q questioned) Record(t agenttool.EventType, pairs ...any) error {
	return q.c.rec.write(t, pairs...)
}

func (q questioned) Judge(p permissions.Policy) agenttool.Decision {
	return q.c.approval.hint.on(p.For(q.c.req.Caller.Threads).Decide(q.request))
}

func (q questioned) Coverage(p permissions.Policy) []permissions.Covered {
	return p.For(q.c.req.Caller.Threads).Coverage(q.request)
}

// CheckAnswer reports whether an edited input (nil: the one that was shown) could be bound, and be given the grants. It does no IO.
func (q questioned) CheckAnswer(input []byte, grants []string) error {
	c := q.c
	if input == nil {
		input = c.input
	}
	schema, err := c.tool.compile()
	if err == nil {
		err = schema.Check(input)
	}
	var bound agenttool.Call
	if err == nil {
		bound, err = c.tool.tool.Bind(c.scope(), input)
	}
	if err != nil {
		return refuse("updated_input: %v", err)
	}
	if err := c.host.grants.confine(bound, grants, agenttool.Protected{}); err != nil {
		return refuse("grants: %v", err)
	}
	return nil
}

// promptEnded tells those who look at a prompt that it has ended without an answer; asked is the decision that asked.
func (c *call) promptEnded(asked agenttool.Decision, why error) {
	d := c.completeDecision(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Deny, Mode: asked.Mode, Reply: agenttool.Reply{RequestRef: asked.DecisionID},
		Reason: &agenttool.DecisionReason{Type: "other", Detail: agenttool.AsError(why, agenttool.Canceled).Message},
	})
	c.remember(d)
	_ = c.rec.write(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d) // it has ended, recorded or not
}

// answered goes on with the answer of a prompt; shown are the protected names that it was about. again reports that the call asks anew: its
// input, as a person edited it, is one that asks for itself, or more is protected now than the prompt said.
func (c *call) answered(ctx context.Context, shown agenttool.Protected, answer prompt.Outcome) (d agenttool.Decision, again bool, err error) {
	a := &c.approval
	switch {
	case answer.Behavior == agenttool.Deny && answer.ByRule:
		return d, false, denied(answer.Decision)
	case answer.Behavior == agenttool.Deny:
		message := "a person looked at the call and said no" + said(answer.Feedback)
		return d, false, agenttool.Failure(agenttool.ApprovalRejected, "rejected_by_person", message)
	}
	a.policy = c.rulesInForce()
	edited := answer.UpdatedInput != nil
	if edited {
		if err := c.rebind(ctx, answer.UpdatedInput); err != nil {
			return d, false, err
		}
	}
	d = a.hint.on(c.decide())
	switch {
	case d.Behavior == agenttool.Deny: // a deny that came meanwhile, or that the edited input meets
		return d, false, c.recordDecision(ctx, d)
	case d.Behavior == agenttool.Ask && edited && (d.BlockedPath != "" || len(d.RuleRefs) > 0):
		return d, true, nil
	case !shown.Covers(d.Protected) || d.Behavior == agenttool.Ask && answer.ByRule:
		return d, true, nil
	}
	if edited { // the rules have decided about the edited input, and the answer allows a call that they ask about
		allowed := d
		allowed.RequestRef, allowed.Rewrite = answer.DecisionID, agenttool.Rewrite{UserModified: true}
		if d.Behavior == agenttool.Ask {
			allowed.Behavior, allowed.Source, allowed.SuggestedUpdates = agenttool.Allow, answer.Decision.Source, nil
			allowed.Reason = answer.Decision.Reason
		}
		if err := c.recordDecision(ctx, allowed); err != nil {
			return d, false, err
		}
	}
	grants := slices.Concat(d.Grants, answer.Grants)
	if !answer.ByRule {
		grants = append(grants, c.shownGrants()...)
	}
	a.names = namesOpenedBy(answer.Grants, d.Protected)
	if err := c.host.grants.confine(c.bound, grants, a.names); err != nil {
		return d, false, err
	}
	c.warrant()
	a.consent.feedback = answer.Feedback
	c.rec.to(agenttool.StatusApproved, "")
	return d, false, nil
}

// shownGrants are grants for the paths outside of the workspace that a prompt showed as written: the user who said yes means them.
func (c *call) shownGrants() (grants []string) {
	if _, ok := c.bound.(agenttool.Confined); !ok {
		return nil
	}
	for _, path := range c.bound.Facts().Writes {
		if path.Root == "" && path.Resolved != "" && !path.Private && !path.Follows {
			grants = append(grants, "write:"+path.Resolved)
		}
	}
	return grants
}

// identity identifies a call: its tool, its input, and its directory.
func (c *call) identity() [sha256.Size]byte {
	input, _ := agenttool.Encode(c.bound.Input()) // it was encoded before
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", c.tool.Declaration.Name, c.dir, input))
}

// wasKept reports whether a call failed because its sandbox refused something that a user could grant, and whether a user can answer.
func (c *call) wasKept(err error) bool {
	return errors.Is(err, agenttool.SandboxViolation) && len(c.grantable()) > 0 && c.out.Job == nil && !c.out.Yielded &&
		c.ctx.Err() == nil && c.approval.policy.Mode.Asks() && c.host.prompts.Reaches(c.req.Caller.Asked)
}

// grantable are the grants for the refused accesses of a call that a user may be asked for: none opens toolhost's own files, or a path
// or host that a rule denies.
func (c *call) grantable() []string {
	return slices.DeleteFunc(slices.Clone(c.out.Wanted), func(grant string) bool {
		if c.approval.wall.refused(grant) {
			return true
		}
		if _, denied := c.host.rules.Policy().Forbids(grant); denied {
			return true
		}
		return c.host.grants.opensOwn(grant)
	})
}

// override asks whether a call may have the access that its sandbox refused (AT-147). If it is allowed, a call that only reads runs
// again, as the next attempt of the same invocation, and the result is nil. A call that may have done part of its work does not: its
// error says so, and the next call with the same input gets the grants.
func (c *call) override(ctx context.Context, failure error) error {
	a := &c.approval
	a.attempt, a.wanted = max(a.attempt, 1)+1, c.grantable()
	d := c.completeDecision(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Ask, Mode: string(a.policy.Mode),
		BlockedPath: agenttool.AsError(failure, agenttool.SandboxViolation).BlockedPath,
		Reason: &agenttool.DecisionReason{
			Type: "sandbox_override", Detail: "it ran, and the sandbox kept it from " + strings.Join(a.wanted, ", "),
		},
	})
	answer, err := c.ask(ctx, d, true)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case answer.Unseen != "":
		return withHint(failure, "a prompt asked whether it may have the refused access, and "+answer.Unseen)
	case err != nil:
		return failure
	case answer.Behavior != agenttool.Allow:
		return withHint(failure, "a user looked at the refused access and said no"+said(answer.Feedback))
	}
	grants := answer.Grants
	if len(grants) == 0 {
		grants = a.wanted
	}
	grants = slices.Concat(a.grants, a.wall.given(), grants) // grants of one call add up
	if !c.readOnly() {
		c.host.overrides.add(c.identity(), grants)
		return withHint(failure, "partly done: the refused access ("+strings.Join(grants, ", ")+") is granted now. "+
			"Look what it did, and make the same call again"+said(answer.Feedback))
	}
	a.grants, a.policy, a.consent.feedback = grants, c.rulesInForce(), answer.Feedback
	return c.rebind(ctx, c.input)
}

// withHint is a failure that says how to go on.
func withHint(failure error, hint string) error {
	e := *agenttool.AsError(failure, agenttool.SandboxViolation)
	e.Hint = hint
	return &e
}
