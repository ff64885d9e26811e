package host

import (
	"context"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// ask shows the call to whoever can answer and waits for the answer, its expiry, or the call's end.
func (c *call) ask(ctx context.Context, d agenttool.Decision, override bool) (prompt.Outcome, error) {
	h := c.host
	waits := h.beginWait(c)
	defer h.started(c)
	if !waits || !h.prompts.Invite(c.req.Caller.Asked) {
		c.unasked(d)
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	d.ExpiresAt = h.prompts.Expires()
	if err := c.preview(ctx, &d); err != nil {
		return prompt.Outcome{}, err
	}
	c.turn.free() // an unanswered prompt delays no other call
	c.turn.pass()
	h.stays(c)
	c.refer(d)
	c.mu.Lock()
	c.inv.ApprovalRequestRef = string(d.DecisionID)
	c.mu.Unlock()
	c.to(agenttool.StatusAwaitingApproval, "")
	p, err := h.prompts.Open(c.question(d, override))
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	answer, err := p.Answer(ctx)
	h.started(c)
	if err != nil {
		c.withdrawn(d, err)
		return prompt.Outcome{}, err
	}
	c.refer(answer.Decision)
	if answer.Behavior == agenttool.Deny && answer.Unseen != "" {
		return answer, prompt.Unanswerable(d, answer.Unseen)
	}
	return answer, c.again(ctx)
}

// maxTold is the longest input, in bytes, that the event of a prompt holds whole: it is as long as commands can be. What is longer is
// the content of a file, of which the diff is shown.
const maxTold = 256 << 10

// asShown is the input as the event of a prompt tells it: whoever answers sees all of it.
func (c *call) asShown(input json.RawMessage) any {
	if len(input) > maxTold {
		return c.shownInput()
	}
	return input
}

// unasked records that a call which asks is denied, since nobody is there (AT-150, AT-165).
func (c *call) unasked(d agenttool.Decision) {
	reason := *d.Reason
	reason.Type, reason.Detail = "async_agent", prompt.Nobody+": "+reason.Detail
	d.Behavior, d.Reason = agenttool.Deny, &reason
	c.decided(d)
}

// question is what the call asks.
func (c *call) question(d agenttool.Decision, override bool) prompt.Question {
	input, _ := agenttool.Encode(c.bound.Input()) // it was encoded before
	q := prompt.Question{
		Call: asking{c, c.request()}, Input: c.asShown(input), Override: override, Asked: c.req.Caller.Asked,
		Shown: prompt.Prompt{
			Decision: d, Tool: c.tool.Declaration.Name, Input: input, Facts: c.bound.Facts(), Dir: c.dir, Grants: c.wanted,
			Attempt: c.attempt, AskedAt: agenttool.Timestamp(c.host.o.Now()),
		},
	}
	if confined, ok := c.bound.(agenttool.Profiled); ok {
		q.Shown.Sandbox = &prompt.Sandbox{Level: c.host.o.Level, Profile: confined.Profile(), Grants: d.Grants}
	}
	if c.actsOnJobs() { // what is typed twice is typed twice
		q.Alone = string(c.inv.InvocationID)
	}
	return q
}

// asking is the face that a call shows to the broker of prompts.
type asking struct {
	*call
	of permissions.Request // what it asks about
}

// Invocation implements prompt.Call.
func (a asking) Invocation() agenttool.InvocationID { return a.inv.InvocationID }

// Ended implements prompt.Call.
func (a asking) Ended() bool { return a.ctx.Err() != nil }

// Record implements prompt.Call.
func (a asking) Record(t agenttool.EventType, pairs ...any) error { return a.record(t, pairs...) }

// Judge implements prompt.Call.
func (a asking) Judge(p permissions.Policy) agenttool.Decision { return a.hinted.on(p.Decide(a.of)) }

// CheckAnswer implements prompt.Call: it reports whether an edited input (nil: the one that was shown) could be bound, and be given the grants.
// It does no IO.
func (a asking) CheckAnswer(input []byte, grants []string) error {
	if input == nil {
		input = a.input
	}
	schema, err := a.tool.compile()
	if err == nil {
		err = schema.Check(input)
	}
	var bound agenttool.Call
	if err == nil {
		bound, err = a.tool.tool.Bind(a.scope(), input)
	}
	if err != nil {
		return refuse("updated_input: %v", err)
	}
	if err := a.host.grants.confine(bound, grants); err != nil {
		return refuse("grants: %v", err)
	}
	return nil
}

// withdrawn tells those who look at a prompt that it has ended without an answer; asked is the decision that asked.
func (c *call) withdrawn(asked agenttool.Decision, why error) {
	d := c.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Deny, Mode: asked.Mode, RequestRef: asked.DecisionID,
		Reason: &agenttool.DecisionReason{Type: "other", Detail: agenttool.AsError(why, agenttool.Canceled).Message},
	})
	c.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
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
	d.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: shown.Diff, Partial: shown.Partial, MediaType: "text/x-diff", Name: shown.Digest}}
	return nil
}
