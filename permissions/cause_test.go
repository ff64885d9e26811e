package permissions

import (
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
			"`p x` reaches another machine; a rule `Shell(p x)` would allow it"},
		{"in the sandbox, writing does not decide", Sandboxed, askedPart(agenttool.No, agenttool.No, agenttool.Yes, agenttool.Unknown,
			reasonOf("read_only", "`p x` changes files"), reasonOf("open_world", "`p x` reaches another machine")),
			"`p x` reaches another machine; a rule `Shell(p x)` would allow it"},
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
