package permissions

import (
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestUncovered: a command asks when the sandbox cannot cover all that it should, whatever rules and modes say; what only reads what may
// be read, and what runs nothing, does not.
func TestUncovered(t *testing.T) {
	unknown := &agenttool.Facts{}
	reads := &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, PathsComplete: agenttool.Yes, OpenWorld: agenttool.No}}
	for _, tt := range []struct {
		name     string
		mode     Mode
		runs     bool
		facts    *agenttool.Facts
		confines bool
		want     agenttool.Behavior
	}{
		{"unknown", Default, true, unknown, true, agenttool.Ask},
		{"unknown, sandboxed", Sandboxed, true, unknown, true, agenttool.Ask},
		{"unknown, nobody asked", DontAsk, true, unknown, true, agenttool.Deny},
		{"unknown, bypass", Bypass, true, unknown, true, agenttool.Allow},
		{"reads", Sandboxed, true, reads, true, agenttool.Allow},
		{"a file tool", AcceptEdits, false, reads, true, agenttool.Allow},
		{"no sandbox", Sandboxed, true, unknown, false, agenttool.Ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Policy{Mode: tt.mode, Workspace: "/ws", Confines: tt.confines, Uncovered: func() string { return "900 names" }}
			d := p.Decide(Request{Tool: "shell", RunsCode: tt.runs, Facts: tt.facts})
			if d.Behavior != tt.want {
				t.Errorf("%s: %+v", d.Behavior, d.Reason)
			}
			named := strings.Contains(d.Reason.Detail, "900 names")
			if want := tt.want != agenttool.Allow && tt.confines; named != want {
				t.Errorf("reason %q", d.Reason.Detail)
			}
			p.Uncovered = func() string { return "" }
			if d := p.Decide(Request{Tool: "shell", RunsCode: tt.runs, Facts: tt.facts}); strings.Contains(d.Reason.Detail, "cannot cover") {
				t.Errorf("covered, and yet %q", d.Reason.Detail)
			}
		})
	}
}
