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
	Bypass      Mode = "bypass"       // everything runs but what a rule denies or wants asked, and what is protected
	Sandboxed   Mode = "sandboxed"    // as accept_edits, and whatever the full sandbox holds runs
	AcceptEdits Mode = "accept_edits" // as default, and files of the workspace may be edited, by programs that do nothing else too
	Default     Mode = "default"      // what only reads runs, the rest asks
	DontAsk     Mode = "dont_ask"     // as default, but what would ask is denied
	Plan        Mode = "plan"         // what only reads runs, all else is denied, whatever the rules allow
)

// Modes lists the modes, loosest first.
var Modes = []Mode{Bypass, Sandboxed, AcceptEdits, Default, DontAsk, Plan}

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

// Asks reports whether a call that no rule allows asks somebody.
func (m Mode) Asks() bool { return m != DontAsk && m != Plan && m != Bypass }
