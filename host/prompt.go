package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// Prompt is a question to a person, with all that they need to answer it.
type Prompt struct {
	Decision  agenttool.Decision `json:"decision"` // the one that asks; its diff is in content_blocks
	Tool      string             `json:"tool"`
	Input     json.RawMessage    `json:"input"` // as it would run
	Facts     *agenttool.Facts   `json:"facts"`
	Dir       string             `json:"dir"`
	Sandbox   *PromptSandbox     `json:"sandbox,omitempty"`          // that it would run in; nil: it runs nothing
	Grants    []string           `json:"suggested_grants,omitempty"` // what an answer may widen that sandbox by
	Attempt   int                `json:"attempt,omitempty"`          // 2 and more: it ran before, and was kept from something
	Coalesced string             `json:"coalesced_with,omitempty"`   // the decision_id of a prompt that asks the same; answering it answers this one
	AskedAt   string             `json:"asked_at"`
}

// PromptSandbox is the sandbox that a call would get.
type PromptSandbox struct {
	Level   string   `json:"level"`   // of this machine
	Profile string   `json:"profile"` // read_only, workspace or unconfined
	Grants  []string `json:"grants,omitempty"`
}

// prompt is one question while it is open: the decision that asks, and where its answer goes.
type prompt struct {
	call     *call
	request  permissions.Request
	decision agenttool.Decision
	shown    Prompt
	key      [sha256.Size]byte    // what it asks: those with the same are answered together
	with     agenttool.DecisionID // an earlier one that asks the same; empty: none
	override bool                 // no rule answers it
	claimed  chan struct{}        // not nil while somebody answers it; closed then. broker.mu guards it
	answered chan Answer          // buffered: the first answer wins
	gone     chan struct{}        // closed when nobody can answer any more
	over     chan struct{}        // closed when it needs no answer any more
}

// ask shows the call to whoever can answer and waits for the answer, its expiry, or the call's end.
func (c *call) ask(ctx context.Context, d agenttool.Decision, override bool) (Answer, error) {
	h := c.host
	waits := h.beginWait(c)
	defer h.started(c)
	if waits {
		h.openChannels()
	}
	if !waits || !c.answerable() {
		c.unasked(d)
		return Answer{}, unanswerable(d, nobody)
	}
	d.ExpiresAt = agenttool.Timestamp(h.o.Now().Add(h.approvalTimeout()))
	if err := c.preview(ctx, &d); err != nil {
		return Answer{}, err
	}
	c.turn.free() // an unanswered prompt delays no other call
	c.turn.pass()
	h.stays(c)
	c.refer(d)
	c.mu.Lock()
	c.inv.ApprovalRequestRef = string(d.DecisionID)
	c.mu.Unlock()
	c.to(agenttool.StatusAwaitingApproval, "")
	p := c.newPrompt(d, override)
	if err := h.open(p); err != nil {
		return Answer{}, err
	}
	defer close(p.over)
	answer, err := c.shownAndAnswered(ctx, p)
	if late, answered := h.prompts.close(p); answered {
		answer, err = late, nil
	}
	h.started(c)
	if err != nil {
		c.withdrawn(p, err)
		return Answer{}, err
	}
	c.refer(answer.decision)
	if answer.Behavior == agenttool.Deny && answer.Unseen != "" {
		return answer, unanswerable(d, answer.Unseen)
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
	reason.Type, reason.Detail = "async_agent", nobody+": "+reason.Detail
	d.Behavior, d.Reason = agenttool.Deny, &reason
	c.decided(d)
}

func (h *Host) approvalTimeout() time.Duration {
	if d := h.approvals().Timeout; d > 0 {
		return d
	}
	return defaultApprovalTimeout
}

func (c *call) newPrompt(d agenttool.Decision, override bool) *prompt {
	p := &prompt{
		call: c, request: c.request(), decision: d, override: override,
		answered: make(chan Answer, 1), gone: make(chan struct{}), over: make(chan struct{}),
	}
	input, _ := agenttool.Encode(c.bound.Input()) // it was encoded before
	p.shown = Prompt{
		Decision: d, Tool: c.tool.Declaration.Name, Input: input, Facts: c.bound.Facts(), Dir: c.dir, Grants: c.wanted,
		Attempt: c.attempt, AskedAt: agenttool.Timestamp(c.host.o.Now()),
	}
	if confined, ok := c.bound.(agenttool.Profiled); ok {
		p.shown.Sandbox = &PromptSandbox{Level: c.host.o.Level, Profile: confined.Profile(), Grants: d.Grants}
	}
	once := ""
	if c.actsOnJobs() { // what is typed twice is typed twice
		once = string(c.inv.InvocationID)
	}
	p.key = sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%q\x00%v", once, p.shown.Tool, c.dir, input, c.wanted, override))
	return p
}

// size is how many bytes the prompt holds, near enough.
func (p *prompt) size() int {
	n := len(p.shown.Input)
	for _, block := range p.decision.ContentBlocks {
		n += len(block.Diff)
	}
	return n
}

// shownAndAnswered tells of the prompt and waits.
func (c *call) shownAndAnswered(ctx context.Context, p *prompt) (Answer, error) {
	shown := p.shown
	shown.Coalesced = string(p.with)
	pairs := []any{"phase", agenttool.PhasePermission, "decision", p.decision, "tool", shown.Tool, "input", c.asShown(shown.Input), "facts", shown.Facts,
		"dir", shown.Dir, "asked_at", shown.AskedAt}
	for _, optional := range []struct {
		name  string
		value any
		there bool
	}{
		{"sandbox", shown.Sandbox, shown.Sandbox != nil}, {"suggested_grants", shown.Grants, len(shown.Grants) > 0},
		{"attempt", shown.Attempt, shown.Attempt > 0}, {"coalesced_with", shown.Coalesced, shown.Coalesced != ""},
	} {
		if optional.there {
			pairs = append(pairs, optional.name, optional.value)
		}
	}
	if err := c.record(agenttool.EventPermissionRequested, pairs...); err != nil { // nobody was told, and nobody will answer
		return Answer{}, err
	}
	if c.attended() {
		c.req.Caller.Asked(shown, p.over)
	}
	return c.awaitAnswer(ctx, p)
}

func (c *call) awaitAnswer(ctx context.Context, p *prompt) (Answer, error) {
	limit := c.host.approvalTimeout()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-p.answered:
		return a, nil
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	case <-p.gone:
		return Answer{}, unanswerable(p.decision, nobody)
	case <-timer.C:
		return Answer{}, agenttool.Failure(agenttool.ApprovalRejected, "approval_expired",
			fmt.Sprintf("nobody answered the prompt within %s; ask again when somebody is there", limit))
	}
}

// withdrawn tells those who look at a prompt that it has ended without an answer.
func (c *call) withdrawn(p *prompt, why error) {
	d := c.host.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Deny, Mode: p.decision.Mode, RequestRef: p.decision.DecisionID,
		Reason: &agenttool.DecisionReason{Type: "other", Detail: agenttool.AsError(why, agenttool.Canceled).Message},
	}, c)
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
