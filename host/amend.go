package host

import (
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// Amendment is what changes while a host runs.
type Amendment struct {
	Policy    permissions.Policy // its mode is the loosest from now on
	Approvals Approvals
}

// Amend puts another policy in force: for calls that are admitted or answered from now on, and for prompts that wait, which it
// may answer. Rules that were granted for this session stay, and so does a mode that the client made tighter.
func (h *Host) Amend(a Amendment) {
	h.mu.Lock()
	old := h.policy
	policy := a.Policy.With(granted(old)...)
	if policy.Mode == "" {
		policy.Mode = permissions.Default
	}
	h.o.Policy.Mode = policy.Mode
	if old.Mode != policy.Mode && old.Mode.Within(policy.Mode) && h.tightened {
		policy.Mode = old.Mode
	}
	h.policy, h.o.Approvals = policy, a.Approvals
	h.mu.Unlock()
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "mode", policy.Mode, "rules", len(policy.Rules()))
	h.reconsider()
}

// granted are the rules of a policy that were added for the session alone.
func granted(p permissions.Policy) []permissions.Rule {
	return slices.DeleteFunc(slices.Clone(p.Rules()), func(r permissions.Rule) bool { return r.Origin.Source != agenttool.SourceSession })
}

// Revoke takes rules back that were granted for this session. It reports how many there were.
func (h *Host) Revoke(text string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.policy.Rules())
	h.policy = h.policy.Without(func(r permissions.Rule) bool { return r.Text == text && r.Origin.Source == agenttool.SourceSession })
	return before - len(h.policy.Rules())
}

// Rules returns the rules in force.
func (h *Host) Rules() []permissions.Rule { return h.snapshot().Rules() }

// Tripped records what the person should know of names that other programs run or obey, and tells those who look on.
func (h *Host) Tripped(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventProtectedChanged}, "warning", message)
}

// Warn records what the person should know of settings, and tells those who look on.
func (h *Host) Warn(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "warning", message)
}
