package prompt

import (
	"slices"

	"toolhost/permissions"
)

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
