package permissions

import (
	"testing"

	"toolhost/agenttool"
)

// TestSessionsOwnTmp: rules name what lies in the session's own /tmp as commands do, wherever that is kept. A link that leads elsewhere
// is no part of it.
func TestSessionsOwnTmp(t *testing.T) {
	for _, tt := range []struct {
		rule     string
		behavior agenttool.Behavior
		path     agenttool.Path
		want     agenttool.Behavior
	}{
		{"Write(/tmp/x)", agenttool.Allow, agenttool.Path{Absolute: "/tmp/x", Resolved: "/state/s1/tmp/x", Root: "/state/s1/tmp", Seen: "/tmp/x"}, agenttool.Allow},
		{"Write(/tmp/x)", agenttool.Allow, agenttool.Path{Absolute: "/tmp/x", Resolved: "/etc/x"}, agenttool.Ask},
		{"Write(/tmp/x)", agenttool.Allow, agenttool.Path{Absolute: "/tmp/l", Resolved: "/state/s1/tmp/x", Root: "/state/s1/tmp", Seen: "/tmp/x"}, agenttool.Ask},
		{"Write(/tmp/x)", agenttool.Deny, agenttool.Path{Absolute: "/ws/l", Resolved: "/state/s1/tmp/x", Root: "/state/s1/tmp", Seen: "/tmp/x"}, agenttool.Deny},
	} {
		rule, err := Parser{Names: map[string]string{"write": "write"}}.Parse(tt.rule, tt.behavior, agenttool.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		tt.path.Spelling = tt.path.Absolute
		facts := &agenttool.Facts{Verdicts: agenttool.Verdicts{PathsComplete: agenttool.Yes, OpenWorld: agenttool.No}, Writes: []agenttool.Path{tt.path}}
		d := Policy{Workspace: "/ws"}.With(rule).Decide(Request{Tool: "write", Facts: facts})
		if d.Behavior != tt.want {
			t.Errorf("%s %s, %+v: %s (%s), want %s", tt.behavior, tt.rule, tt.path, d.Behavior, d.Reason.Detail, tt.want)
		}
		for _, update := range d.SuggestedUpdates {
			if tt.path.Seen != "" && tt.path.Absolute == "/tmp/x" && update.Rules[0] != "Write(/tmp/x)" {
				t.Errorf("%+v: suggested are %q", tt.path, update.Rules)
			}
		}
	}
}
