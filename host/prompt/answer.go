package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// ErrRefused is wrapped by the errors of requests and answers that were refused before anything happened.
var ErrRefused = errors.New("request refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

// Decide answers a prompt, and those that ask the same. The first valid answer wins. An answer that cannot count is an error
// that wraps [ErrRefused] and leaves the prompt open. So does an unseen denial while another user can answer: there is no decision then.
func (b *Broker) Decide(a Answer) (agenttool.Decision, error) {
	if a.Unseen != "" && a.Behavior == agenttool.Deny && b.withdraw(a.DecisionID) {
		return agenttool.Decision{}, nil
	}
	group, settle, err := b.claim(a.DecisionID, a.Alone)
	if err != nil {
		return agenttool.Decision{}, err
	}
	kept, err := b.take(group[0], &a)
	if err != nil {
		settle(false)
		return agenttool.Decision{}, err
	}
	answers := make([]Outcome, len(group))
	for i, p := range group {
		mine := Outcome{Answer: a}
		mine.DecisionID = p.id()
		mine.Decision = b.record(p, a, kept)
		answers[i] = mine
		if err := p.Call.Record(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", mine.Decision); err != nil {
			settle(false)
			return agenttool.Decision{}, err // an answer that is not in the journal does not count
		}
	}
	if len(kept.rules) > 0 {
		b.o.Rules.Add(kept.rules)
	}
	if kept.mode != "" {
		_ = b.o.Rules.SetMode(kept.mode) // refused if the administrator chose another one meanwhile: this call was allowed all the same
	}
	if len(kept.rules) > 0 || kept.mode != "" {
		b.Reconsider()
	}
	for i, p := range group { // last, so that listeners hear of the answer before the call that it allowed ends
		p.answered <- answers[i]
	}
	settle(true)
	return answers[0].Decision, nil
}

// change is the effect of an answer on the rest of the session.
type change struct {
	rules []permissions.Rule
	mode  permissions.Mode // empty: it stays
}

// take checks an answer and keeps its rules. It returns the change for the session.
func (b *Broker) take(p *Waiting, a *Answer) (change, error) {
	a.Scope = cmp.Or(a.Scope, ScopeOnce)
	if a.Scope == ScopeOnce && len(a.AcceptUpdates) > 0 && a.Behavior == agenttool.Allow && a.UpdatedInput == nil {
		a.Scope = ScopeSession // a rule that is accepted counts for the session
	}
	if err := b.check(p, *a); err != nil {
		return change{}, err
	}
	accepted, err := acceptedUpdates(p, *a)
	if err != nil {
		return change{}, err
	}
	var texts []string
	var mode permissions.Mode // the last one that an update sets
	for _, update := range accepted {
		for _, text := range update.Rules {
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		mode = cmp.Or(update.Mode, mode)
	}
	texts = append(texts, a.Rules...)
	if mode != "" && a.Scope != ScopeSession {
		return change{}, refuse("mode %s is for this session: answer with scope session", mode)
	}
	rules, err := b.keep(*a, texts)
	if err != nil {
		return change{}, err
	}
	opened, err := b.open(p, *a)
	return change{append(rules, opened...), mode}, err
}

// open makes the rules for the paths that stay open by an answer. A directory that somebody else has made meanwhile gets none.
func (b *Broker) open(p *Waiting, a Answer) (rules []permissions.Rule, err error) {
	for _, dir := range a.Opens {
		if p.MayOpen == nil || !p.MayOpen(dir) {
			continue
		}
		of, err := b.parse(permissions.Opening(dir), agenttool.Origin{Source: agenttool.SourceSession, Made: p.Call.Invocation(), Thread: a.Thread})
		if err != nil {
			return nil, err
		}
		rules = append(rules, of...)
	}
	return rules, nil
}

// keep parses rules, and keeps them for longer than the session if the scope says so.
func (b *Broker) keep(a Answer, texts []string) ([]permissions.Rule, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	rules, err := b.parse(texts, agenttool.Origin{Source: sourceOf(a.Scope), Thread: a.Thread})
	if err != nil {
		return nil, err
	}
	if a.Scope == ScopeProject || a.Scope == ScopeUser {
		remember := b.inForce().Remember
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

// check reports why an answer cannot count.
func (b *Broker) check(p *Waiting, a Answer) error {
	switch {
	case a.Behavior != agenttool.Allow && a.Behavior != agenttool.Deny:
		return refuse("behavior %q is neither allow nor deny", a.Behavior)
	case !slices.Contains(Scopes, a.Scope):
		return refuse("scope %q is none of once, session, project, user", a.Scope)
	case !slices.Contains(b.scopes(a.Channel), a.Scope):
		return refuse("scope %s cannot be granted over this channel: answer with once or session, or use toolhost approve", a.Scope)
	case len(a.Rules) > 0 && a.Scope == ScopeOnce:
		return refuse("rules of your own are kept for the session, the project or the user: answer with that scope")
	case a.UpdatedInput != nil && (a.Scope != ScopeOnce || len(a.AcceptUpdates) > 0):
		return refuse("an edited input is allowed once: the rules that are suggested are about the input as it was")
	case a.Behavior == agenttool.Deny && (a.Scope != ScopeOnce || len(a.AcceptUpdates)+len(a.Grants)+len(a.Rules) > 0 || a.UpdatedInput != nil):
		return refuse("deny goes with no scope but once, no updates, no grants and no input")
	}
	for _, dir := range a.Opens {
		if a.Behavior != agenttool.Allow || a.UpdatedInput != nil || !slices.Contains(p.Shown.Opens, dir) {
			return refuse("opens names %s, which this prompt did not show or this answer cannot keep open", dir)
		}
	}
	for _, grant := range a.Grants {
		if rule, denied := b.o.Rules.Policy().Forbids(grant); denied {
			return refuse("grant %s: it is denied by %s", grant, rule.Ref())
		}
	}
	if len(a.Rules) > 0 {
		if a.Channel.Name == "" {
			return refuse("rules of one's own are taken from toolhost approve, and not from a client")
		}
		trial, _, err := b.try(p, a.Rules)
		if err != nil {
			return err
		}
		if !trial.Covers() {
			return refuse("it covers nothing of this call")
		}
	}
	if p.Override && a.UpdatedInput != nil {
		return refuse("a call that ran already cannot be edited: deny it, and have it called again")
	}
	if a.UpdatedInput != nil || len(a.Grants) > 0 {
		return p.Call.CheckAnswer(a.UpdatedInput, a.Grants)
	}
	return nil
}

// acceptedUpdates returns the suggested updates that an answer accepts. With a wider scope than once none stands for the narrowest rules.
func acceptedUpdates(p *Waiting, a Answer) (updates []agenttool.SuggestedUpdate, err error) {
	suggested, accepted := p.Shown.Decision.SuggestedUpdates, a.AcceptUpdates
	if a.Scope != ScopeOnce && len(accepted)+len(a.Rules) == 0 {
		narrowest := p.Shown.Decision.SuggestedRules()
		if narrowest < 0 {
			return nil, refuse("there is no rule that could be kept for this call: answer with scope once")
		}
		accepted = []int{narrowest}
	}
	for _, i := range accepted {
		if i < 0 || i >= len(suggested) {
			return nil, refuse("accept_updates names %d, but there are %d suggested updates", i, len(suggested))
		}
		updates = append(updates, suggested[i])
	}
	return updates, nil
}

// record is the record of a person's answer.
func (b *Broker) record(p *Waiting, a Answer, kept change) agenttool.Decision {
	by := "answered by the client with agenttool/decide"
	if a.Channel.Name != "" {
		by = "answered with " + a.Channel.Name
	}
	if kept.mode != "" {
		by += "; the session goes on in mode " + string(kept.mode)
	}
	d := b.Complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: a.Behavior, Mode: p.Shown.Decision.Mode, Source: sourceOf(a.Scope),
		Rewrite: agenttool.Rewrite{UpdatedInput: a.UpdatedInput, UserModified: a.UpdatedInput != nil}, Grants: a.Grants,
		Reply:  agenttool.Reply{RequestRef: p.id(), AcceptFeedback: a.Feedback, AnsweredBy: a.Channel.answerer()},
		Reason: &agenttool.DecisionReason{Type: "permission_prompt_tool", Detail: by},
	}, p.Call.Invocation())
	for _, r := range kept.rules {
		d.RuleRefs = append(d.RuleRefs, r.Ref())
	}
	return d
}

// Reconsider answers the prompts that the policy, as it is now, decides: a new rule may cover or forbid what they ask.
func (b *Broker) Reconsider() {
	policy := b.o.Rules.Policy()
	b.mu.Lock()
	waiting := slices.Collect(maps.Values(b.pending))
	b.mu.Unlock()
	for _, p := range waiting {
		d := p.Call.Judge(policy)
		if d.Behavior == agenttool.Ask || p.Override {
			continue
		}
		group, settle, err := b.claim(p.id(), false)
		if err != nil {
			continue // another answer was faster
		}
		for _, member := range group {
			answer := Outcome{Answer: Answer{DecisionID: member.id(), Behavior: d.Behavior, Grants: d.Grants}, ByRule: true}
			answer.Decision = b.Complete(d, member.Call.Invocation())
			answer.Decision.RequestRef = member.id()
			_ = member.Call.Record(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", answer.Decision)
			member.answered <- answer
		}
		settle(true)
	}
}

// Try returns the coverage of further rules, and the policy with them. It changes nothing.
func (b *Broker) Try(id agenttool.DecisionID, texts []string) (Trial, permissions.Policy, error) {
	b.mu.Lock()
	p := b.pending[id]
	b.mu.Unlock()
	if p == nil {
		return Trial{}, permissions.Policy{}, refuse("no prompt %q waits for an answer", id)
	}
	return b.try(p, texts)
}

func (b *Broker) try(p *Waiting, texts []string) (t Trial, with permissions.Policy, err error) {
	if p.Override {
		return t, with, refuse("this is about a command that runs or ran already, and its own rule is suggested: s, p or u keeps that")
	}
	rules, err := b.parse(texts, agenttool.Origin{Source: agenttool.SourceSession})
	if err != nil {
		return t, with, err
	}
	before := b.o.Rules.Policy()
	with = before.With(rules...)
	d := p.Call.Judge(with)
	t.Runs = d.Behavior == agenttool.Allow
	if t.Runs {
		t.Grants = d.Grants
	} else {
		t.Still = d.Reason.Detail
	}
	open := map[string]bool{}
	for _, part := range p.Call.Coverage(before) {
		open[part.What] = !part.By
	}
	for _, part := range p.Call.Coverage(with) {
		if open[part.What] {
			t.Parts = append(t.Parts, part)
		}
	}
	return t, with, nil
}

// parse reads rules that allow.
func (b *Broker) parse(texts []string, origin agenttool.Origin) (rules []permissions.Rule, err error) {
	if len(texts) > maxOwn {
		return nil, refuse("%d rules are more than %d", len(texts), maxOwn)
	}
	for _, text := range texts {
		if len(text) > maxOwnText {
			return nil, refuse("a rule has %d bytes: at most %d", len(text), maxOwnText)
		}
		r, err := b.o.Rules.Parse(text, origin)
		if err != nil {
			return nil, refuse("%v", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// claim takes a prompt, with all that ask the same unless it is taken alone, so that no other answer counts. settle ends
// that: with answers the prompts are over, without answers they wait again.
func (b *Broker) claim(id agenttool.DecisionID, alone bool) (group []*Waiting, settle func(answered bool), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending[id]
	switch {
	case p == nil:
		return nil, nil, refuse("no prompt %q waits for an answer: it was answered, it expired, or it never was", id)
	case p.Call.Ended():
		return nil, nil, refuse("the call of prompt %q has ended", id)
	}
	done := make(chan struct{})
	for _, other := range b.pending {
		if other == p || !alone && other.key == p.key && !other.Call.Ended() {
			group = append(group, other)
			other.processing = done
			delete(b.pending, other.id())
		}
	}
	slices.SortFunc(group, func(x, y *Waiting) int { // the one that was answered first, then in their order
		switch p {
		case x:
			return -1
		case y:
			return 1
		}
		return strings.Compare(string(x.id()), string(y.id()))
	})
	return group, func(answered bool) {
		b.mu.Lock()
		for _, other := range group {
			other.processing = nil
			if !answered {
				b.pending[other.id()] = other
			}
		}
		b.mu.Unlock()
		close(done)
	}, nil
}

// Trial says how rules of a person's own would stand to a prompt.
type Trial struct {
	Parts  []permissions.Covered `json:"parts"`           // of the call that no other rule covers
	Runs   bool                  `json:"runs"`            // such a call would run unasked
	Still  string                `json:"still,omitempty"` // why it would not
	Grants []string              `json:"grants,omitempty"`
	Calls  []string              `json:"calls,omitempty"` // of this session: others that would have run unasked, the newest first
}

// Covers reports whether the rules cover anything of the call.
func (t Trial) Covers() bool {
	return t.Runs || slices.ContainsFunc(t.Parts, func(part permissions.Covered) bool { return part.By })
}

// Bounds of a line of rules.
const (
	maxOwn     = 20   // rules
	maxOwnText = 4096 // bytes of one
)
