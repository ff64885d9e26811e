package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// broker holds the prompts that wait for a person.
type broker struct {
	mu      sync.Mutex
	viewers int // clients that said they can answer
	pending map[agenttool.DecisionID]*prompt
}

// prompt is one question: the decision that asks, and where its answer goes.
type prompt struct {
	call     *call
	decision agenttool.Decision
	answered chan Answer   // buffered: the first answer wins
	gone     chan struct{} // closed when nobody can answer any more
}

// Answer is a person's answer to a prompt.
type Answer struct {
	DecisionID    agenttool.DecisionID
	Behavior      agenttool.Behavior // allow or deny
	Scope         string             // once (or empty) or session
	UpdatedInput  []byte             // runs instead of the input that was shown; nil: that one
	Grants        []string           // widen the sandbox of this call, see [agenttool.Confined]
	AcceptUpdates []int              // indices of suggested updates to accept; with scope session none means all
	Feedback      string             // told to the model

	decision agenttool.Decision // the record of the answer
}

// Attend says that a client can answer prompts until detach is called. When the last one leaves, open prompts are
// rejected.
func (h *Host) Attend() (detach func()) {
	h.prompts.mu.Lock()
	h.prompts.viewers++
	h.prompts.mu.Unlock()
	return sync.OnceFunc(h.leave)
}

func (h *Host) leave() {
	b := &h.prompts
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.viewers--; b.viewers > 0 {
		return
	}
	for id, p := range b.pending {
		close(p.gone)
		delete(b.pending, id)
	}
}

// maxPrompts is how many prompts may wait: each keeps its call's input, and nobody reads more.
const maxPrompts = 1000

// open adds a prompt, if somebody can answer it.
func (b *broker) open(p *prompt) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.viewers == 0:
		return unanswerable(p.decision)
	case len(b.pending) >= maxPrompts:
		return agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable",
			fmt.Sprintf("%d prompts wait for an answer already; ask again when some are answered", maxPrompts))
	}
	b.pending[p.decision.DecisionID] = p
	return nil
}

// close takes a prompt back and returns the answer that it may have had in the same moment: an answer that was
// accepted counts.
func (b *broker) close(p *prompt) (Answer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pending, p.decision.DecisionID)
	select {
	case a := <-p.answered:
		return a, true
	default:
		return Answer{}, false
	}
}

// Decide answers a prompt. The first valid answer wins. An answer that cannot count is an error that wraps
// [ErrRequest] and leaves the prompt open.
func (h *Host) Decide(a Answer) (agenttool.Decision, error) {
	b := &h.prompts
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending[a.DecisionID]
	if p == nil {
		return agenttool.Decision{}, refuse("no prompt %q waits for an answer: it was answered, it expired, or it never was", a.DecisionID)
	}
	if p.call.ctx.Err() != nil {
		return agenttool.Decision{}, refuse("the call of prompt %q has ended", a.DecisionID)
	}
	rules, err := h.checkAnswer(p, a)
	if err != nil {
		return agenttool.Decision{}, err
	}
	a.decision = h.answerRecord(p, a, rules)
	if err := p.call.record(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", a.decision); err != nil {
		return agenttool.Decision{}, err // what is not in the journal does not count
	}
	delete(b.pending, a.DecisionID)
	h.grant(rules)
	p.answered <- a
	return a.decision, nil
}

// checkAnswer returns the rules that the answer adds to the session.
func (h *Host) checkAnswer(p *prompt, a Answer) ([]permissions.Rule, error) {
	switch {
	case a.Behavior != agenttool.Allow && a.Behavior != agenttool.Deny:
		return nil, refuse("behavior %q is neither allow nor deny", a.Behavior)
	case a.Scope == "project" || a.Scope == "user":
		return nil, refuse("scope %s cannot be granted over this channel: answer with once or session", a.Scope)
	case a.Scope != "" && a.Scope != "once" && a.Scope != "session":
		return nil, refuse("scope %q is neither once nor session", a.Scope)
	case a.Behavior == agenttool.Deny && (a.Scope == "session" || len(a.AcceptUpdates)+len(a.Grants) > 0 || a.UpdatedInput != nil):
		return nil, refuse("deny goes with no scope but once, no updates, no grants and no input")
	}
	if a.UpdatedInput != nil || len(a.Grants) > 0 {
		if err := p.call.checkInput(a.UpdatedInput, a.Grants); err != nil {
			return nil, err
		}
	}
	return h.acceptedRules(p, a)
}

func (h *Host) acceptedRules(p *prompt, a Answer) ([]permissions.Rule, error) {
	suggested := p.decision.SuggestedUpdates
	if a.Scope == "session" && len(suggested) == 0 {
		return nil, refuse("there is no rule that could be kept for this call: answer with scope once")
	}
	var rules []permissions.Rule
	for i, update := range suggested {
		if !slices.Contains(a.AcceptUpdates, i) && (a.Scope != "session" || len(a.AcceptUpdates) > 0) {
			continue
		}
		for _, text := range update.Rules {
			r, err := h.parser.Parse(text, update.Behavior, "session")
			if err != nil {
				return nil, refuse("suggested update %d: %v", i, err)
			}
			rules = append(rules, r)
		}
	}
	for _, i := range a.AcceptUpdates {
		if i < 0 || i >= len(suggested) {
			return nil, refuse("accept_updates names %d, but there are %d suggested updates", i, len(suggested))
		}
	}
	return rules, nil
}

// checkInput reports whether an edited input (nil: the one that was shown) could be bound, and be given the grants.
// It does no IO.
func (c *call) checkInput(input []byte, grants []string) error {
	if input == nil {
		input = c.input
	}
	schema, err := c.tool.compile()
	if err == nil {
		err = schema.Check(input)
	}
	var bound agenttool.Call
	if err == nil {
		bound, err = c.tool.tool.Bind(c.host.o.Scope, input)
	}
	if err != nil {
		return refuse("updated_input: %v", err)
	}
	if err := confine(bound, grants); err != nil {
		return refuse("grants: %v", err)
	}
	return nil
}

// confine gives a call its grants.
func confine(bound agenttool.Call, grants []string) error {
	if len(grants) == 0 {
		return nil
	}
	c, ok := bound.(agenttool.Confined)
	if !ok {
		return agenttool.Failure(agenttool.InvalidArguments, "bad_grant", "this tool runs nothing in a sandbox: leave them out")
	}
	return c.Confine(grants)
}

// grant adds rules for the rest of the session.
func (h *Host) grant(rules []permissions.Rule) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.policy = h.policy.With(rules...)
}

func (h *Host) answerRecord(p *prompt, a Answer, rules []permissions.Rule) agenttool.Decision {
	now := h.o.Now()
	d := agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, DecisionID: agenttool.DecisionID(h.o.IDs.New("perm_", now)),
		InvocationID: p.decision.InvocationID, RequestRef: p.decision.DecisionID, Behavior: a.Behavior, Mode: p.decision.Mode,
		Source: "session", UpdatedInput: a.UpdatedInput, UserModified: a.UpdatedInput != nil, AcceptFeedback: a.Feedback,
		DecidedAt: agenttool.Timestamp(now),
		Reason:    &agenttool.DecisionReason{Type: "permission_prompt_tool", Detail: "answered by the client with agenttool/decide"},
	}
	for _, r := range rules {
		d.RuleRefs = append(d.RuleRefs, r.Ref())
	}
	if len(a.Grants) > 0 {
		if encoded, err := agenttool.Encode(a.Grants); err == nil { // strings: it cannot fail
			d.Extra = agenttool.Extra{"grants": encoded}
		}
	}
	return d
}

// permission decides whether the call may run, and asks if need be (AT-117). The call goes on under the snapshot of
// mode and rules that was in force when it was approved.
func (c *call) permission(ctx context.Context) error {
	d := c.decide()
	if d.Behavior == agenttool.Allow {
		c.decided(d)
		return nil
	}
	if d.Behavior == agenttool.Deny {
		c.decided(d)
		return denied(d)
	}
	answer, err := c.ask(ctx, d)
	if err != nil {
		return err
	}
	if answer.Behavior == agenttool.Deny {
		return rejected(answer)
	}
	c.policy = c.host.snapshot()
	if answer.UpdatedInput != nil {
		if err := c.rebind(ctx, answer.UpdatedInput); err != nil {
			return err
		}
	}
	if err := confine(c.bound, answer.Grants); err != nil {
		return err
	}
	if d := c.decide(); d.Behavior == agenttool.Deny { // a deny that came meanwhile, or that the edited input meets
		c.decided(d)
		return denied(d)
	}
	c.to(agenttool.StatusApproved, "")
	return nil
}

// decide asks the policy and completes its record.
func (c *call) decide() agenttool.Decision {
	d := c.policy.Decide(permissions.Request{
		Tool: c.tool.Declaration.Name, RunsCode: slices.Contains(c.tool.Permission.AccessKinds, "code_execution"), Facts: c.bound.Facts(),
	})
	now := c.host.o.Now()
	d.DecisionID, d.DecidedAt = agenttool.DecisionID(c.host.o.IDs.New("perm_", now)), agenttool.Timestamp(now)
	d.InvocationID = c.inv.InvocationID
	return d
}

// decided records a decision that needs no answer.
func (c *call) decided(d agenttool.Decision) {
	c.refer(d)
	c.emit(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", d)
}

func (c *call) refer(d agenttool.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inv.PermissionDecisionRefs = append(c.inv.PermissionDecisionRefs, string(d.DecisionID))
}

// ask shows the call to whoever can answer and waits for the answer, its expiry, or the call's end.
func (c *call) ask(ctx context.Context, d agenttool.Decision) (Answer, error) {
	h := c.host
	if !h.mayAsk(c) || !h.prompts.attended() {
		c.decided(d)
		return Answer{}, unanswerable(d)
	}
	d.ExpiresAt = agenttool.Timestamp(h.o.Now().Add(h.o.ApprovalTimeout))
	if err := c.preview(ctx, &d); err != nil {
		return Answer{}, err
	}
	c.enter() // an unanswered prompt delays nobody
	c.pass()
	c.refer(d)
	c.mu.Lock()
	c.inv.ApprovalRequestRef = string(d.DecisionID)
	c.mu.Unlock()
	c.to(agenttool.StatusAwaitingApproval, "")
	p := &prompt{call: c, decision: d, answered: make(chan Answer, 1), gone: make(chan struct{})}
	if err := h.prompts.open(p); err != nil {
		return Answer{}, err
	}
	c.emit(agenttool.EventPermissionRequested, "phase", agenttool.PhasePermission, "decision", d,
		"tool", c.tool.Declaration.Name, "input", c.shownInput(), "facts", c.bound.Facts())
	err := c.flush() // on an error nobody was told, and nobody will answer
	answer := Answer{}
	if err == nil {
		answer, err = c.awaitAnswer(ctx, p)
	}
	if late, answered := h.prompts.close(p); answered {
		answer, err = late, nil
	}
	h.started(c)
	if err != nil {
		return Answer{}, err
	}
	c.refer(answer.decision)
	return answer, c.enterGate(ctx)
}

func (c *call) awaitAnswer(ctx context.Context, p *prompt) (Answer, error) {
	limit := c.host.o.ApprovalTimeout
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-p.answered:
		return a, nil
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	case <-p.gone:
		return Answer{}, unanswerable(p.decision)
	case <-timer.C:
		return Answer{}, agenttool.Failure(agenttool.ApprovalRejected, "approval_expired",
			fmt.Sprintf("nobody answered the prompt within %s; ask again when somebody is there", limit))
	}
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
	d.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: shown.Diff, MediaType: "text/x-diff", Name: shown.Digest}}
	return nil
}

func (b *broker) attended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.viewers > 0
}

func denied(d agenttool.Decision) error {
	e := agenttool.Failure(agenttool.PermissionDenied, "denied_by_"+d.Reason.Type, "denied: "+d.Reason.Detail)
	e.BlockedPath, e.PolicyRefs = d.BlockedPath, d.RuleRefs
	return e
}

func rejected(a Answer) error {
	message := "a person looked at the call and said no"
	if a.Feedback != "" {
		message += ": " + a.Feedback
	}
	return agenttool.Failure(agenttool.ApprovalRejected, "rejected_by_person", message)
}

// unanswerable says at once that nobody is there to be asked, and what would help (AT-165).
func unanswerable(d agenttool.Decision) error {
	message := "approval is needed (" + d.Reason.Detail + ") and nobody can be asked: "
	var flags []string
	for _, update := range d.SuggestedUpdates {
		for _, rule := range update.Rules {
			flags = append(flags, "--allow '"+strings.ReplaceAll(rule, "'", `'\''`)+"'")
		}
	}
	if len(flags) == 0 {
		flags = []string{"an --allow rule"}
	}
	message += "allow it with " + strings.Join(flags, " ") + ", or connect a client that says approvals: true in agenttool/hello"
	return agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable", message)
}
