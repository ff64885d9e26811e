package host

import (
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// rules are the mode and the rules in force. They implement prompt.Rules.
type rules struct {
	parser permissions.Parser

	mu        sync.Mutex         // guards what follows
	limit     permissions.Mode   // the loosest that a client may set
	tightened bool               // the client made the mode tighter
	policy    permissions.Policy // in force
}

// Policy implements prompt.Rules: it is a snapshot.
func (r *rules) Policy() permissions.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

// Parse implements prompt.Rules.
func (r *rules) Parse(text string, origin agenttool.Origin) (permissions.Rule, error) {
	return r.parser.Parse(text, agenttool.Allow, origin)
}

// Add implements prompt.Rules.
func (r *rules) Add(granted []permissions.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy = r.policy.With(granted...)
}

// setMode changes the mode, to none that is looser than the limit, and reports whether it was another one.
func (r *rules) setMode(m permissions.Mode) (changed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !m.Within(r.limit) {
		return false, refuse("mode %s is looser than %s, with which toolhost was started: start it with --mode %s", m, r.limit, m)
	}
	changed = r.policy.Mode != m
	r.policy.Mode, r.tightened = m, m != r.limit
	return changed, nil
}

// amend puts another policy in force and returns it. Rules that were granted for this session stay, and so does a mode that the
// client made tighter.
func (r *rules) amend(policy permissions.Policy) permissions.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.policy
	policy = policy.With(granted(old)...)
	if policy.Mode == "" {
		policy.Mode = permissions.Default
	}
	r.limit = policy.Mode
	if old.Mode != policy.Mode && old.Mode.Within(policy.Mode) && r.tightened {
		policy.Mode = old.Mode
	}
	r.policy = policy
	return policy
}

// granted are the rules of a policy that were added for the session alone.
func granted(p permissions.Policy) []permissions.Rule {
	return slices.DeleteFunc(slices.Clone(p.Rules()), func(r permissions.Rule) bool { return r.Origin.Source != agenttool.SourceSession })
}

// revoke takes rules back that were granted for this session. It reports how many there were.
func (r *rules) revoke(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.policy.Rules())
	r.policy = r.policy.Without(func(rule permissions.Rule) bool {
		return rule.Text == text && rule.Origin.Source == agenttool.SourceSession
	})
	return before - len(r.policy.Rules())
}
