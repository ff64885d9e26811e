package host

import (
	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// Amendment is what changes while a host runs.
type Amendment struct {
	Policy    permissions.Policy // its mode is the loosest from now on
	Approvals prompt.Approvals
}

// Amend puts another policy in force: for calls that are admitted or answered from now on, and for prompts that wait, which it
// may answer. Rules that were granted for this session stay, and so does a mode that the client made tighter.
func (h *Host) Amend(a Amendment) {
	policy := h.rules.amend(a.Policy)
	h.prompts.Amend(a.Approvals)
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "mode", policy.Mode, "rules", len(policy.Rules()))
	h.prompts.Reconsider()
}

// Revoke takes rules back that were granted for this session. It reports how many there were.
func (h *Host) Revoke(text string) int { return h.rules.revoke(text) }

// Rules returns the rules in force.
func (h *Host) Rules() []permissions.Rule { return h.rules.Policy().Rules() }

// Tripped records what the person should know of names that other programs run or obey, and tells those who look on.
func (h *Host) Tripped(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventProtectedChanged}, "warning", message)
}

// Warn records what the person should know of settings, and tells those who look on.
func (h *Host) Warn(message string) {
	h.journal.record(agenttool.Event{EventType: agenttool.EventSettingsChanged}, "warning", message)
}
