package onecall

import (
	"sync/atomic"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host/prompt"
)

// Agreed answers the prompts of a call that a person allowed in the dialog of a program. That yes answers the first
// prompt, before the call runs, and nothing that the call meets later.
func Agreed(s *session.Session, program string) prompt.Listener {
	var used atomic.Bool
	return func(p prompt.Prompt, _ <-chan struct{}) {
		answer := prompt.Answer{
			DecisionID: p.Decision.DecisionID, Behavior: agenttool.Allow,
			Channel: prompt.Channel{Name: "the dialog of " + program, Scopes: []prompt.Scope{prompt.ScopeOnce}},
		}
		if late := p.Decision.Reason != nil && p.Decision.Reason.Type == "sandbox_override"; used.Swap(true) || late {
			answer.Behavior, answer.Unseen = agenttool.Deny, program+" asked before the command ran, and shows no prompt now"
		}
		go func() { _, _ = s.Host.Decide(answer) }() // fails if another answer came first
	}
}
