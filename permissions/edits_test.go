package permissions

import (
	"testing"

	"toolhost/agenttool"
)

// TestPlainMode: a mode that lets a program run as another person is no edit.
func TestPlainMode(t *testing.T) {
	for mode, want := range map[string]bool{
		"644": true, "0755": true, "+x": true, "u+rwx": true, "go-w": true, "a=r": true,
		"4755": false, "u+s": false, "+t": false, "g+xs": false, "": false, "+": false, "u": false, "7777": false, "--reference=x": false,
	} {
		if got := plainMode(mode); got != want {
			t.Errorf("%q: %v", mode, got)
		}
	}
}

// TestEdits: which command lines mode accept_edits runs, whose facts say that they write nothing but /ws/b.
func TestEdits(t *testing.T) {
	for _, test := range []struct {
		argv []string
		want agenttool.Behavior
	}{
		{[]string{"mkdir", "-p", "b"}, agenttool.Allow},
		{[]string{"touch", "b"}, agenttool.Allow},
		{[]string{"tee", "-a", "b"}, agenttool.Allow},
		{[]string{"sed", "-i", "s/a/b/", "b"}, agenttool.Allow},
		{[]string{"cp", "a", "b"}, agenttool.Allow},
		{[]string{"mv", "a", "b"}, agenttool.Allow},
		{[]string{"chmod", "+x", "b"}, agenttool.Allow},
		{[]string{"chmod", "u+s", "b"}, agenttool.Ask},
		{[]string{"chmod", "-R", "+x", "b"}, agenttool.Ask},
		{[]string{"cp", "-r", "a", "b"}, agenttool.Ask},
		{[]string{"cp", "a/.bashrc", "b"}, agenttool.Ask}, // b may be a directory
		{[]string{"cp", "a", "c", "b"}, agenttool.Ask},
		{[]string{"mkdir", "-m", "4777", "b"}, agenttool.Ask},
		{[]string{"make", "b"}, agenttool.Ask},
	} {
		path := agenttool.Path{Spelling: "b", Absolute: "/ws/b", Resolved: "/ws/b", Root: "/ws", By: 1}
		facts := agenttool.Facts{
			ReadOnly: agenttool.No, Destructive: agenttool.Unknown, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, PartsComplete: agenttool.Yes,
			Dir: &agenttool.Path{Absolute: "/ws", Resolved: "/ws", Root: "/ws"}, Writes: []agenttool.Path{path}, Mentions: [][]string{test.argv},
			Parts: []agenttool.Part{{Argv: test.argv, Exact: true, WrappedBy: -1, ReadOnly: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}},
		}
		for mode, want := range map[Mode]agenttool.Behavior{AcceptEdits: test.want, Default: agenttool.Ask} {
			d := Policy{Mode: mode, Workspace: "/ws"}.Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
			if d.Behavior != want {
				t.Errorf("%s: %v: %s, want %s", mode, test.argv, d.Behavior, want)
			}
		}
	}
}
