package host

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// Answer is a person's answer to a prompt.
type Answer struct {
	DecisionID    agenttool.DecisionID
	Behavior      agenttool.Behavior // allow or deny
	Scope         Scope              // empty: ScopeOnce
	UpdatedInput  []byte             // runs instead of the input that was shown; nil: that one
	Grants        []string           // widen the sandbox of this call, see [agenttool.Confined]
	AcceptUpdates []int              // which suggested updates to accept; with a wider scope than once none means the first
	Feedback      string             // told to the model
	Channel       Channel            // by which it came

	// Alone says that it is for this prompt only, and not for those that ask the same: whoever answers does not see them.
	Alone bool

	// Unseen says why it may be that no person saw the prompt, of a denial: "the client declined". The call is told how else it could
	// be allowed, and not that a person said no.
	Unseen string

	decision agenttool.Decision // the record of the answer
	byRule   bool               // nobody answered: a new rule did
}

// Decide answers a prompt, and those that ask the same. The first valid answer wins. An answer that cannot count is an error
// that wraps [ErrRequest] and leaves the prompt open.
func (h *Host) Decide(a Answer) (agenttool.Decision, error) {
	group, settle, err := h.prompts.claim(a.DecisionID, a.Alone)
	if err != nil {
		return agenttool.Decision{}, err
	}
	rules, err := h.take(group[0], &a)
	if err != nil {
		settle(false)
		return agenttool.Decision{}, err
	}
	answers := make([]Answer, len(group))
	for i, p := range group {
		mine := a
		mine.DecisionID = p.decision.DecisionID
		mine.decision = h.answerRecord(p, mine, rules)
		answers[i] = mine
		if err := p.call.record(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", mine.decision); err != nil {
			settle(false)
			return agenttool.Decision{}, err // what is not in the journal does not count
		}
	}
	h.grant(rules)
	for i, p := range group { // last, so that an answer is told before what it let run is over
		p.answered <- answers[i]
	}
	settle(true)
	return answers[0].decision, nil
}

// take checks an answer and keeps what it is to be remembered by. It returns the rules that it adds to the session.
func (h *Host) take(p *prompt, a *Answer) ([]permissions.Rule, error) {
	if a.Scope == "" {
		a.Scope = ScopeOnce
	}
	if a.Scope == ScopeOnce && len(a.AcceptUpdates) > 0 && a.Behavior == agenttool.Allow && a.UpdatedInput == nil {
		a.Scope = ScopeSession // a rule that is accepted counts for the session
	}
	if err := h.checkAnswer(p, *a); err != nil {
		return nil, err
	}
	texts, err := acceptedRules(p, *a)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	origin := agenttool.Origin{Source: sourceOf(a.Scope)}
	var rules []permissions.Rule
	for _, text := range texts {
		r, err := h.parser.Parse(text, agenttool.Allow, origin)
		if err != nil {
			return nil, refuse("%v", err)
		}
		rules = append(rules, r)
	}
	if a.Scope == ScopeProject || a.Scope == ScopeUser {
		remember := h.approvals().Remember
		if remember == nil {
			return nil, refuse("nothing can be remembered beyond this session: answer with once or session")
		}
		if err := remember(a.Scope, texts); err != nil {
			return nil, refuse("the rule could not be remembered, and the prompt is open still: %v", err)
		}
	}
	return rules, nil
}

// sourceOf is where an answer of a scope counts as coming from.
func sourceOf(s Scope) string {
	switch s {
	case ScopeUser:
		return agenttool.SourceUser
	case ScopeProject:
		return agenttool.SourceLocal
	case ScopeSession:
		return agenttool.SourceSession
	}
	return agenttool.SourceCommand
}

// checkAnswer reports why an answer cannot count.
func (h *Host) checkAnswer(p *prompt, a Answer) error {
	switch {
	case a.Behavior != agenttool.Allow && a.Behavior != agenttool.Deny:
		return refuse("behavior %q is neither allow nor deny", a.Behavior)
	case !slices.Contains(Scopes, a.Scope):
		return refuse("scope %q is none of once, session, project, user", a.Scope)
	case !slices.Contains(h.scopes(a.Channel), a.Scope):
		return refuse("scope %s cannot be granted over this channel: answer with once or session, or use toolhost approve", a.Scope)
	case a.UpdatedInput != nil && (a.Scope != ScopeOnce || len(a.AcceptUpdates) > 0):
		return refuse("an edited input is allowed once: the rules that are suggested are about the input as it was")
	case a.Behavior == agenttool.Deny && (a.Scope != ScopeOnce || len(a.AcceptUpdates)+len(a.Grants) > 0 || a.UpdatedInput != nil):
		return refuse("deny goes with no scope but once, no updates, no grants and no input")
	}
	for _, grant := range a.Grants {
		if rule, denied := h.snapshot().Forbids(grant); denied {
			return refuse("grant %s: it is denied by %s", grant, rule.Ref())
		}
	}
	if p.override && a.UpdatedInput != nil {
		return refuse("what ran already cannot be edited: deny, and have it called again")
	}
	if a.UpdatedInput != nil || len(a.Grants) > 0 {
		return p.call.checkInput(a.UpdatedInput, a.Grants)
	}
	return nil
}

// scopes returns those that answers of a channel may have.
func (h *Host) scopes(c Channel) []Scope {
	if c.Scopes != nil {
		return c.Scopes
	}
	widest := h.approvals().Widest
	if widest == "" {
		widest = ScopeSession
	}
	return Scopes[:slices.Index(Scopes, widest)+1]
}

// acceptedRules returns the texts of the rules that an answer accepts.
func acceptedRules(p *prompt, a Answer) ([]string, error) {
	suggested, accepted := p.decision.SuggestedUpdates, a.AcceptUpdates
	if a.Scope != ScopeOnce && len(suggested) == 0 {
		return nil, refuse("there is no rule that could be kept for this call: answer with scope once")
	}
	if a.Scope != ScopeOnce && len(accepted) == 0 {
		accepted = []int{0}
	}
	var texts []string
	for _, i := range accepted {
		if i < 0 || i >= len(suggested) {
			return nil, refuse("accept_updates names %d, but there are %d suggested updates", i, len(suggested))
		}
		for _, text := range suggested[i].Rules {
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts, nil
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
		bound, err = c.tool.tool.Bind(c.scope(), input)
	}
	if err != nil {
		return refuse("updated_input: %v", err)
	}
	if err := c.host.confine(bound, grants); err != nil {
		return refuse("grants: %v", err)
	}
	return nil
}

// confine gives a call its grants, none of which may open what is toolhost's own.
func (h *Host) confine(bound agenttool.Call, grants []string) error {
	if len(grants) == 0 {
		return nil
	}
	for _, grant := range grants {
		if h.opensOwn(grant) {
			return agenttool.Failure(agenttool.PermissionDenied, "bad_grant", "grant "+grant+" would open what is toolhost's own, which no call may touch")
		}
	}
	c, ok := bound.(agenttool.Confined)
	if !ok {
		return agenttool.Failure(agenttool.InvalidArguments, "bad_grant", "this tool runs nothing in a sandbox: leave them out")
	}
	return c.Confine(grants)
}

// opensOwn reports whether a grant names a place of toolhost's own, or one that holds such a place.
func (h *Host) opensOwn(grant string) bool {
	_, path, _ := strings.Cut(grant, ":")
	if !filepath.IsAbs(path) {
		return false
	}
	at := agenttool.Path{Spelling: path, Absolute: path}
	if h.o.Locate(&at) != nil || at.Private {
		return true
	}
	return slices.ContainsFunc(h.o.Private, func(own string) bool { return agenttool.Within(at.Resolved, own) })
}

// answerRecord is the record of a person's answer.
func (h *Host) answerRecord(p *prompt, a Answer, rules []permissions.Rule) agenttool.Decision {
	by := "answered by the client with agenttool/decide"
	if a.Channel.Name != "" {
		by = "answered with " + a.Channel.Name
	}
	d := h.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: a.Behavior, Mode: p.decision.Mode, Source: sourceOf(a.Scope),
		UpdatedInput: a.UpdatedInput, UserModified: a.UpdatedInput != nil, AcceptFeedback: a.Feedback, Grants: a.Grants,
		Reason: &agenttool.DecisionReason{Type: "permission_prompt_tool", Detail: by},
	}, p.call)
	d.RequestRef = p.decision.DecisionID
	for _, r := range rules {
		d.RuleRefs = append(d.RuleRefs, r.Ref())
	}
	return d
}

// complete fills what a decision about a call has of its own.
func (h *Host) complete(d agenttool.Decision, c *call) agenttool.Decision {
	now := h.o.Now()
	d.DecisionID, d.DecidedAt = agenttool.DecisionID(h.o.IDs.New("perm_", now)), agenttool.Timestamp(now)
	d.InvocationID = c.inv.InvocationID
	return d
}
