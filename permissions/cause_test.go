package permissions

import (
	"strings"
	"testing"

	"toolhost/agenttool"
)

// askedPart is a simple command with facts and a reason for each.
func askedPart(readOnly, destructive, openWorld, complete agenttool.Fact, reasons ...agenttool.Reason) agenttool.Part {
	return agenttool.Part{Argv: []string{"p", "x"}, Exact: true, WrappedBy: -1, ReadOnly: readOnly, Destructive: destructive,
		OpenWorld: openWorld, PathsComplete: complete, Reasons: reasons}
}

func reasonOf(fact, text string) agenttool.Reason { return agenttool.Reason{Fact: fact, Text: text} }

// TestReasonIsOfTheDecidingFact: a decision quotes the reason for the fact that decides, of the command that fails it, and what would change
// the verdict.
func TestReasonIsOfTheDecidingFact(t *testing.T) {
	harmless := reasonOf("concurrency_safe", "`p x` writes a cache")
	tests := []struct {
		name string
		mode Mode
		part agenttool.Part
		want string
	}{
		{"a harmless fact comes first", Default, askedPart(agenttool.Unknown, agenttool.Unknown, agenttool.Unknown, agenttool.Unknown,
			harmless, reasonOf("read_only", "`p x` runs code of this project")),
			"`p x` runs code of this project; a rule `Shell(p x)` or mode sandboxed would allow it"},
		{"only the paths are not known", Default, askedPart(agenttool.Yes, agenttool.No, agenttool.No, agenttool.Unknown,
			harmless, reasonOf("paths_complete", "`\"$f\"` may name a file outside the workspace")),
			"`\"$f\"` may name a file outside the workspace: use a literal path"},
		{"it reaches out", Default, askedPart(agenttool.Yes, agenttool.No, agenttool.Yes, agenttool.Yes,
			harmless, reasonOf("open_world", "`p x` reaches another machine")),
			"`p x` reaches another machine; a rule `Shell(p x)` or mode sandboxed would allow it"},
		{"in the sandbox, neither writing nor unknown hosts decide", Sandboxed, askedPart(agenttool.No, agenttool.No, agenttool.Yes, agenttool.Unknown,
			reasonOf("read_only", "`p x` changes files"), reasonOf("open_world", "`p x` reaches another machine")),
			"mode sandboxed runs commands that the sandbox confines"},
		{"it deletes", Sandboxed, askedPart(agenttool.No, agenttool.Yes, agenttool.Yes, agenttool.Unknown,
			reasonOf("open_world", "`p x` reaches another machine"), reasonOf("destructive", "`p x` deletes files")),
			"`p x` deletes files; a rule `Shell(p x)` would allow it"},
		{"no rule, but a reason", DontAsk, askedPart(agenttool.Unknown, agenttool.Unknown, agenttool.Unknown, agenttool.Unknown,
			reasonOf("read_only", "`p` is not a program that toolhost knows")),
			"`p` is not a program that toolhost knows, and mode dont_ask denies what would ask"},
		{"mode plan", Plan, askedPart(agenttool.No, agenttool.No, agenttool.No, agenttool.Yes,
			harmless, reasonOf("read_only", "`p x` runs code of this project")),
			"mode plan runs only calls that read: `p x` runs code of this project"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			part := tt.part
			facts := agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: part.ReadOnly, Destructive: part.Destructive, OpenWorld: part.OpenWorld,
				PathsComplete: part.PathsComplete}, PartsComplete: agenttool.Yes, Parts: []agenttool.Part{part}, Reasons: part.Reasons,
				Dir: &agenttool.Path{Absolute: "/w", Resolved: "/w", Root: "/w"}, Mentions: [][]string{part.Argv}}
			policy := Policy{Mode: tt.mode, Workspace: "/w", Confines: true}
			d := policy.Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
			if d.Reason.Detail != tt.want {
				t.Errorf("got  %s\nwant %s", d.Reason.Detail, tt.want)
			}
		})
	}
}

// TestWeakerLevelIsNamed: where the sandbox is below level full, a question that mode sandboxed would not put at level full says so, and a mode
// that is offered is offered for that level. A question that is put at every level says nothing of it.
func TestWeakerLevelIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		mode  Mode
		loses agenttool.Fact
		want  string
	}{
		{"mode sandboxed", Sandboxed, agenttool.No, "`p x` runs code of this project; a rule `Shell(p x)` would allow it; " +
			"mode sandboxed runs it unasked at sandbox level full only: toolhost doctor says what this machine lacks"},
		{"mode default", Default, agenttool.No, "`p x` runs code of this project; a rule `Shell(p x)` or mode sandboxed at sandbox level full would allow it"},
		{"it destroys", Sandboxed, agenttool.Yes, "`p x` deletes files; a rule `Shell(p x)` would allow it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			part := askedPart(agenttool.No, tt.loses, agenttool.No, agenttool.Yes, reasonOf("read_only", "`p x` runs code of this project"),
				reasonOf("destructive", "`p x` deletes files"))
			facts := agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: part.ReadOnly, Destructive: part.Destructive, OpenWorld: part.OpenWorld,
				PathsComplete: part.PathsComplete}, PartsComplete: agenttool.Yes, Parts: []agenttool.Part{part}, Reasons: part.Reasons,
				Dir: &agenttool.Path{Absolute: "/w", Resolved: "/w", Root: "/w"}, Mentions: [][]string{part.Argv}}
			d := (Policy{Mode: tt.mode, Workspace: "/w"}).Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
			if d.Behavior != agenttool.Ask || d.Reason.Detail != tt.want {
				t.Errorf("got  %s: %s\nwant %s", d.Behavior, d.Reason.Detail, tt.want)
			}
		})
	}
}

// TestSandboxAsksAboutHosts: in mode sandboxed a command with unknown hosts runs, and no host is open to it. One that names a host, sends
// commits or runs without the walls asks first.
func TestSandboxAsksAboutHosts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		confines bool
		open     agenttool.Fact
		change   func(*agenttool.Facts)
		want     agenttool.Behavior
		grants   int
	}{
		{"unknown hosts", true, agenttool.Yes, nil, agenttool.Allow, 0},
		{"perhaps none", true, agenttool.Unknown, nil, agenttool.Allow, 1},
		{"no walls", false, agenttool.Yes, nil, agenttool.Ask, 0},
		{"a host", true, agenttool.Yes, func(f *agenttool.Facts) { f.Hosts = []string{"a.example"} }, agenttool.Ask, 0},
		{"a push", true, agenttool.Yes, func(f *agenttool.Facts) { f.Remotes = []agenttool.GitRemote{{Name: "origin", Push: true}} }, agenttool.Ask, 0},
		{"a fetch", true, agenttool.Yes, func(f *agenttool.Facts) { f.Remotes = []agenttool.GitRemote{{Name: "origin"}} }, agenttool.Allow, 0},
		{"it destroys", true, agenttool.Yes, func(f *agenttool.Facts) { f.Destructive = agenttool.Yes }, agenttool.Ask, 0},
	} {
		facts := agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.No, OpenWorld: tt.open},
			Dir: &agenttool.Path{Absolute: "/w", Resolved: "/w", Root: "/w"}}
		if tt.change != nil {
			tt.change(&facts)
		}
		allowed, err := Parser{}.Parse("Network(known.example)", agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession})
		if err != nil {
			t.Fatal(err)
		}
		policy := Policy{Mode: Sandboxed, Workspace: "/w", Confines: tt.confines}.With(allowed)
		d := policy.Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
		if d.Behavior != tt.want || len(d.Grants) != tt.grants {
			t.Errorf("%s: %s with grants %v (%s), want %s with %d", tt.name, d.Behavior, d.Grants, d.Reason.Detail, tt.want, tt.grants)
		}
	}
}

// TestRulesOpenPathsToTheSandbox: in mode sandboxed a command runs that names paths outside of the workspace if rules about these paths allow
// it. It is granted the paths that it writes, and no others.
func TestRulesOpenPathsToTheSandbox(t *testing.T) {
	notes, plan := at("/home/me/notes/a"), at("/home/me/plan")
	for _, tt := range []struct {
		name   string
		rules  []string
		reads  []agenttool.Path
		writes []agenttool.Path
		want   agenttool.Behavior
		grants string
	}{
		{"no rule", nil, nil, []agenttool.Path{notes}, agenttool.Ask, ""},
		{"a write", []string{"Write(/home/me/notes/**)"}, nil, []agenttool.Path{notes}, agenttool.Allow, "write:/home/me/notes/a"},
		{"one of two", []string{"Write(/home/me/notes/**)"}, nil, []agenttool.Path{notes, plan}, agenttool.Ask, ""},
		{"a read", []string{"Read(/home/me/plan)"}, []agenttool.Path{plan}, nil, agenttool.Allow, ""},
		{"a read, by a rule about writing", []string{"Write(/home/me/plan)"}, []agenttool.Path{plan}, nil, agenttool.Ask, ""},
		{"a write, by a rule about reading", []string{"Read(/home/me/plan)"}, nil, []agenttool.Path{plan}, agenttool.Ask, ""},
		{"a protected name", []string{"Write(/home/me/**)"}, nil, []agenttool.Path{at("/home/me/.git/hooks/x")}, agenttool.Ask, ""},
	} {
		facts := agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.No},
			Dir: &agenttool.Path{Absolute: "/w", Resolved: "/w", Root: "/w"}, Reads: tt.reads, Writes: tt.writes}
		policy := Policy{Mode: Sandboxed, Workspace: "/w", Confines: true}
		for _, text := range tt.rules {
			rule, err := suggested.Parse(text, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession})
			if err != nil {
				t.Fatal(err)
			}
			policy = policy.With(rule)
		}
		d := policy.Decide(Request{Tool: "shell", RunsCode: true, Facts: &facts})
		if d.Behavior != tt.want || strings.Join(d.Grants, " ") != tt.grants {
			t.Errorf("%s: %s, grants %v (%s), want %s, %s", tt.name, d.Behavior, d.Grants, d.Reason.Detail, tt.want, tt.grants)
		}
	}
}
