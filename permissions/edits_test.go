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
		{[]string{"touch", "-d", "yesterday", "b"}, agenttool.Allow},
		{[]string{"mkdir", "--", "b"}, agenttool.Allow},
		{[]string{"mkdir", "--", "-b"}, agenttool.Ask}, // the options are not told from it
		{[]string{"gofmt", "-w", "b"}, agenttool.Allow},
		{[]string{"gofmt", "-r", "a -> b", "-w", "b"}, agenttool.Ask},
		{[]string{"sort", "-u", "-o", "b", "a"}, agenttool.Allow},
		{[]string{"sort", "--compress-program=x", "-o", "b", "a"}, agenttool.Ask},
	} {
		path := agenttool.Path{Spelling: "b", Absolute: "/ws/b", Resolved: "/ws/b", Root: "/ws", By: 1}
		facts := agenttool.Facts{
			Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.Unknown, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}, PartsComplete: agenttool.Yes,
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

// TestEditsThroughLinks: what a line writes is located before it runs, so that no link which it makes or moves is written through, and none
// leads to a protected path.
func TestEditsThroughLinks(t *testing.T) {
	at := func(spelling, resolved string, by int) agenttool.Path {
		return agenttool.Path{Spelling: spelling, Absolute: "/ws/" + spelling, Resolved: resolved, Root: "/ws", By: by}
	}
	touch := []string{"touch", "h"}
	for name, test := range map[string]struct {
		parts  [][]string
		reads  []agenttool.Path
		writes []agenttool.Path
		want   agenttool.Behavior
	}{
		"a link":                 {[][]string{{"ln", "-s", "a", "h"}}, []agenttool.Path{at("a", "/ws/a", 1)}, []agenttool.Path{at("h", "/ws/h", 1)}, agenttool.Allow},
		"protected":              {[][]string{{"ln", "-s", ".git/hooks", "h"}}, []agenttool.Path{at(".git/hooks", "/ws/.git/hooks", 1)}, []agenttool.Path{at("h", "/ws/h", 1)}, agenttool.Ask},
		"protected, over a link": {[][]string{{"ln", "l", "h"}}, []agenttool.Path{at("l", "/ws/.git/config", 1)}, []agenttool.Path{at("h", "/ws/h", 1)}, agenttool.Ask},
		"written through":        {[][]string{{"ln", "-s", "a", "h"}, touch}, []agenttool.Path{at("a", "/ws/a", 1)}, []agenttool.Path{at("h", "/ws/h", 1), at("h", "/ws/h", 2)}, agenttool.Ask},
		"by a redirect":          {[][]string{{"ln", "-s", "a", "h"}}, []agenttool.Path{at("a", "/ws/a", 1)}, []agenttool.Path{at("h", "/ws/h", 1), at("h", "/ws/h", 0)}, agenttool.Ask},
		"a moved file":           {[][]string{{"mv", "d/l", "h"}, touch}, nil, []agenttool.Path{at("d/l", "/ws/d/l", 1), at("h", "/ws/h", 1), at("h", "/ws/h", 2)}, agenttool.Allow},
		"a moved link":           {[][]string{{"mv", "d/l", "h"}, touch}, nil, []agenttool.Path{at("d/l", "/ws/q", 1), at("h", "/ws/h", 1), at("h", "/ws/h", 2)}, agenttool.Ask},
	} {
		facts := agenttool.Facts{
			Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}, PartsComplete: agenttool.Yes,
			Dir: &agenttool.Path{Absolute: "/ws", Resolved: "/ws", Root: "/ws"}, Reads: test.reads, Writes: test.writes, Mentions: test.parts,
		}
		for _, argv := range test.parts {
			facts.Parts = append(facts.Parts, agenttool.Part{Argv: argv, Exact: true, WrappedBy: -1, ReadOnly: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes})
		}
		if d := (Policy{Mode: AcceptEdits, Workspace: "/ws"}).Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts}); d.Behavior != test.want {
			t.Errorf("%s: %s, want %s: %s", name, d.Behavior, test.want, d.Reason.Detail)
		}
	}
}

// TestScratchIsNoLoss: a command that only destroys what it names in the session's own /tmp asks for no more than another one.
func TestScratchIsNoLoss(t *testing.T) {
	scratch := agenttool.Path{Spelling: "/tmp/x", Absolute: "/tmp/x", Resolved: "/state/s1/tmp/x", Root: "/state/s1/tmp", Seen: "/tmp/x", By: 1}
	link := scratch // in the workspace: the link itself is lost
	link.Spelling, link.Absolute = "l", "/ws/l"
	loose := scratch // behind a directory that may be a link by then
	loose.Loose = true
	inside := agenttool.Path{Spelling: "a", Absolute: "/ws/a", Resolved: "/ws/a", Root: "/ws", By: 1}
	for _, tt := range []struct {
		name             string
		argv             []string
		writes           []agenttool.Path
		paths            agenttool.Fact // complete
		sandboxed, edits agenttool.Behavior
		copied           bool // before it runs
	}{
		{"rm of scratch", []string{"rm", "-f", "/tmp/x"}, []agenttool.Path{scratch}, agenttool.Yes, agenttool.Allow, agenttool.Allow, false},
		{"rm behind a link to come", []string{"rm", "-f", "/tmp/x"}, []agenttool.Path{loose}, agenttool.Yes, agenttool.Ask, agenttool.Ask, false},
		{"another program", []string{"truncate", "-s", "0", "/tmp/x"}, []agenttool.Path{scratch}, agenttool.Yes, agenttool.Allow, agenttool.Ask, false},
		{"a link to scratch", []string{"rm", "l"}, []agenttool.Path{link}, agenttool.Yes, agenttool.Ask, agenttool.Ask, false},
		{"a file of the workspace, too", []string{"rm", "/tmp/x", "a"}, []agenttool.Path{scratch, inside}, agenttool.Yes, agenttool.Ask, agenttool.Ask, false},
		{"more than it names", []string{"rm", "/tmp/x"}, []agenttool.Path{scratch}, agenttool.Unknown, agenttool.Ask, agenttool.Ask, false},
		{"nothing that is named", []string{"rm"}, nil, agenttool.Yes, agenttool.Ask, agenttool.Ask, false},
		{"a file of the workspace, copied", []string{"rm", "a"}, []agenttool.Path{inside}, agenttool.Yes, agenttool.Allow, agenttool.Ask, true},
		{"a work tree, copied", []string{"git", "reset", "--hard"}, nil, agenttool.Unknown, agenttool.Allow, agenttool.Ask, true},
	} {
		facts := agenttool.Facts{
			Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: tt.paths}, PartsComplete: agenttool.Yes,
			Dir: &agenttool.Path{Absolute: "/ws", Resolved: "/ws", Root: "/ws"}, Writes: tt.writes, Mentions: [][]string{tt.argv},
			Parts: []agenttool.Part{{Argv: tt.argv, Exact: true, WrappedBy: -1, ReadOnly: agenttool.No, Destructive: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: tt.paths, Copied: tt.copied}},
		}
		for mode, want := range map[Mode]agenttool.Behavior{Sandboxed: tt.sandboxed, AcceptEdits: tt.edits, Default: agenttool.Ask} {
			d := Policy{Mode: mode, Workspace: "/ws", Confines: true}.Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
			if d.Behavior != want {
				t.Errorf("%s, mode %s: %s (%s), want %s", tt.name, mode, d.Behavior, d.Reason.Detail, want)
			}
		}
	}
}
