package permissions

import "toolhost/agenttool"

// Mode is [agenttool.Mode].
type Mode = agenttool.Mode

// The modes by their short names.
const (
	Bypass      = agenttool.ModeBypass
	Sandboxed   = agenttool.ModeSandboxed
	AcceptEdits = agenttool.ModeAcceptEdits
	Default     = agenttool.ModeDefault
	DontAsk     = agenttool.ModeDontAsk
	Plan        = agenttool.ModePlan
)
