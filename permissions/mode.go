package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says what happens to a call that no rule decides.
type Mode string

// The modes, loosest first.
const (
	AcceptEdits Mode = "accept_edits" // as default, and the file tools may write inside the workspace
	Default     Mode = "default"      // what only reads the workspace runs, the rest asks
	DontAsk     Mode = "dont_ask"     // as default, but what would ask is denied
	Plan        Mode = "plan"         // what only reads the workspace runs, all else is denied, whatever the rules allow
)

// Modes lists the modes, loosest first.
var Modes = []Mode{AcceptEdits, Default, DontAsk, Plan}

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(Modes, m) {
		return m, nil
	}
	names := make([]string, len(Modes))
	for i, m := range Modes {
		names[i] = string(m)
	}
	return "", fmt.Errorf("mode %q is not one of %s", name, strings.Join(names, ", "))
}

// Within reports whether m allows nothing that limit does not.
func (m Mode) Within(limit Mode) bool {
	return slices.Index(Modes, m) >= slices.Index(Modes, limit)
}
