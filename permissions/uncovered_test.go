package permissions

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// gaps is a map that leaves something open.
func gaps(all ...protect.Gap) func([]agenttool.Path) (*protect.Map, error) {
	return func([]agenttool.Path) (*protect.Map, error) { return &protect.Map{Partial: all}, nil }
}

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
			p := Policy{Mode: tt.mode, Workspace: "/ws", Confines: tt.confines, Names: gaps(protect.Gap{Reason: "900 names", Bound: true})}
			d := p.Decide(Request{Tool: "shell", RunsCode: tt.runs, Facts: tt.facts})
			if d.Behavior != tt.want {
				t.Errorf("%s: %+v", d.Behavior, d.Reason)
			}
			named := strings.Contains(d.Reason.Detail, "900 names")
			if want := tt.want != agenttool.Allow && tt.confines; named != want {
				t.Errorf("reason %q", d.Reason.Detail)
			}
			p.Names = gaps()
			if d := p.Decide(Request{Tool: "shell", RunsCode: tt.runs, Facts: tt.facts}); strings.Contains(d.Reason.Detail, "cannot cover") {
				t.Errorf("covered, and yet %q", d.Reason.Detail)
			}
		})
	}
}

// TestUnknownNames: a call that writes files asks while the map of the protected names is not complete, or cannot be made, and says why. A gap of
// the mounts alone concerns commands.
func TestUnknownNames(t *testing.T) {
	unreadable := func([]agenttool.Path) (*protect.Map, error) { return nil, errors.New("the root is gone") }
	blind := gaps(protect.Gap{Path: "/ws/deep", Reason: "not looked into", Bound: true, Blind: true})
	mounts := gaps(protect.Gap{Path: "/ws/x", Reason: "not mounted over", Bound: true})
	foreign := gaps(protect.Gap{Path: "/ws/x", Reason: "of another user", Blind: true})
	short := func([]agenttool.Path) (*protect.Map, error) { return nil, fmt.Errorf("open root: %w", syscall.EMFILE) }
	for _, tt := range []struct {
		name  string
		mode  Mode
		names func([]agenttool.Path) (*protect.Map, error)
		runs  bool
		want  agenttool.Behavior
		says  string
	}{
		{"an edit", AcceptEdits, blind, false, agenttool.Ask, "/ws/deep is not looked into"},
		{"an edit, nobody asked", DontAsk, blind, false, agenttool.Deny, "/ws/deep is not looked into"},
		{"a command", Sandboxed, blind, true, agenttool.Ask, "/ws/deep"},
		{"no map", AcceptEdits, unreadable, false, agenttool.Ask, "the root is gone"},
		{"no map for a command", Sandboxed, unreadable, true, agenttool.Ask, "the root is gone"},
		{"a shortage", AcceptEdits, short, false, agenttool.Deny, "too many open files"},
		{"a shortage in a command", Sandboxed, short, true, agenttool.Deny, "too many open files"},
		{"a shortage, bypass", Bypass, short, false, agenttool.Deny, "too many open files"},
		{"an edit beside what is not mounted over", AcceptEdits, mounts, false, agenttool.Allow, ""},
		{"an edit beside what is another user's", AcceptEdits, foreign, false, agenttool.Allow, ""},
		{"complete", AcceptEdits, gaps(), false, agenttool.Allow, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := suggested.Parse("Write(**)", agenttool.Allow, agenttool.Origin{Source: agenttool.SourceUser})
			if err != nil {
				t.Fatal(err)
			}
			p := Policy{Mode: tt.mode, Workspace: "/ws", Confines: true, Names: tt.names}.With(rule)
			f := agenttool.Facts{
				Writes:   []agenttool.Path{{Spelling: "f", Absolute: "/ws/f", Resolved: "/ws/f", Root: "/ws"}},
				Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, PathsComplete: agenttool.Yes, OpenWorld: agenttool.No, Destructive: agenttool.No},
			}
			d := p.Decide(Request{Tool: "write", RunsCode: tt.runs, Facts: &f})
			if d.Behavior != tt.want || !strings.Contains(d.Reason.Detail, tt.says) {
				t.Errorf("%s: %s", d.Behavior, d.Reason.Detail)
			}
			if agenttool.IsShortage(d.Failure) != strings.HasPrefix(tt.name, "a shortage") {
				t.Errorf("it fails with %v", d.Failure)
			}
		})
	}
}
