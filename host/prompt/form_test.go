package prompt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host/prompt"
)

func ExamplePrompt_Form() {
	p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"rm -rf build\nmake","cwd":"sub"}`), Dir: "/ws", Grants: []string{"host:example.com"}}
	p.Facts = &agenttool.Facts{Verdicts: agenttool.Verdicts{Destructive: agenttool.Yes}}
	p.Decision.Reason = &agenttool.DecisionReason{Type: "mode", Detail: "it destroys something"}
	p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: []string{"Shell(make)"}}}
	fmt.Println(p.Form().Text)
	// Output:
	// shell  │ rm -rf build … [all of it below: lines 2, bytes 17]
	// Why you are asked: it destroys something
	// In: sub
	//
	// command:
	//   │ rm -rf build
	//   │ make
	// Allowing gives it:
	//   │ host:example.com
	// Allowing it for this session adds:
	//   │ Shell(make)
}

// TestWhatIsCutCannotBeAllowed, in whatever order it comes and whatever was cut before it.
func TestWhatIsCutCannotBeAllowed(t *testing.T) {
	long := strings.Repeat("x", 2*prompt.MaxText)
	for _, tt := range []struct {
		name, input   string
		once, session bool
	}{
		{"all of it", `{"command":"make"}`, true, true},
		{"command", `{"command":"` + long + `"}`, false, false},
		{"path behind a long command", `{"command":"` + long + `","path":"` + long + `"}`, false, false},
		{"another member", `{"command":"make","stdin":"` + long + `"}`, true, false},
		{"no object", `"` + long + `"`, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(tt.input)}
			p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: []string{"Shell(make)"}}}
			q := p.Form()
			if q.Once != tt.once || q.Session != tt.session || len(q.Text) > prompt.MaxText+2500 {
				t.Errorf("once %v, session %v, %d bytes", q.Once, q.Session, len(q.Text))
			}
		})
	}
}

// TestHeadlineOfChanges: a change of one line stands in the first line, a larger one as the numbers of its lines.
func TestHeadlineOfChanges(t *testing.T) {
	const head = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n"
	for _, tt := range []struct{ diff, want string }{
		{head + " x\n-  the needle\n+  the thread\n y\n", "f −the needle +the thread"},
		{head + "+added\n", "f +added"},
		{head + "--- gone\n", "f −-- gone"},
		{head + "-a\n-b\n+c\n", "f [lines: +1 −2]"},
		{head + "-a\n+ a\n", "f [lines: +1 −1]"},
		{head + "-a\n+\n", "f [lines: +1 −1]"},
		{head + "-a\n+b\x1b[2J\n", "f −a +b⟨ESC⟩[2J"},
		{head + "-" + strings.Repeat("a", 90) + "\n+b\n", "f [lines: +1 −1]"},
		{head + "-a\n+b\n" + "@@ -9 +9 @@\n-c\n+d\n", "f [lines: +2 −2]"},
		{"", "f"},
	} {
		p := prompt.Prompt{Tool: "edit", Input: json.RawMessage(`{"path":"f","old_string":"x","new_string":"y"}`)}
		p.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: tt.diff}}
		if first, _, _ := strings.Cut(p.Form().Text, "\n"); first != "edit  │ "+tt.want {
			t.Errorf("%q: %q", tt.diff, first)
		}
	}
}

// TestOpensWhereShown: directories stay open only where the text names them.
func TestOpensWhereShown(t *testing.T) {
	long := "/srv/" + strings.Repeat("x", prompt.MaxText)
	for _, tt := range []struct {
		dirs []string
		want int
	}{{nil, 0}, {[]string{"/srv/a/b"}, 1}, {[]string{"/srv/a/b", long}, 0}, {[]string{"link:/srv/a/b"}, 1}} {
		p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"mkdir /srv/a/b"}`), Opens: tt.dirs}
		q := p.Form()
		if shown := strings.Contains(q.Text, "stays open"); len(q.Opens) != tt.want || shown != (tt.want > 0) {
			t.Errorf("%d directories: %d stay open, shown %v", len(tt.dirs), len(q.Opens), shown)
		}
	}
}

// TestFormSaysAll that a user should know: the sandbox, files of an edit, grants, the rule, warnings, and what stays open.
func TestFormSaysAll(t *testing.T) {
	facts := &agenttool.Facts{Writes: []agenttool.Path{{Spelling: "a.go"}, {Spelling: "b.go"}}}
	facts.Destructive = agenttool.Yes
	p := prompt.Prompt{
		Tool: "edit", Input: json.RawMessage(`{"edits":[]}`), Facts: facts, Dir: "/ws", Attempt: 2, Grants: []string{"host:example.com", "write:/x"},
		Sandbox: &prompt.Sandbox{Profile: "workspace", Level: "full"}, Opens: []string{"push:/srv/r", "fetch:/srv/r"},
	}
	p.Decision.Reason = &agenttool.DecisionReason{Type: "rule", Detail: "a rule asks", RuleRef: "user:Edit"}
	got := p.Form()
	const want = `edit  │ a.go, b.go
Why you are asked: a rule asks
Sandbox: workspace (level full), in /ws

  edits: []
Allowing gives it:
  │ host:example.com
  │ write:/x
Rule: user:Edit
Note: it destroys something; it ran already
`
	if !strings.HasPrefix(got.Text, want) || !got.Once || len(got.Opens) != 2 {
		t.Errorf("once %v, opens %q:\n%s", got.Once, got.Opens, got.Text)
	}
	p.Grants = slices.Repeat([]string{"write:/" + strings.Repeat("x", 1000)}, 20)
	if got := p.Form(); got.Once || got.Session || !strings.Contains(got.Text, "[and more]") {
		t.Errorf("grants that are not shown can be allowed:\n%s", got.Text)
	}
}
