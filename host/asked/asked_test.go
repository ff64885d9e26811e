package asked_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host/asked"
	"toolhost/host/prompt"
)

func Example() {
	p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"rm -rf build\nmake","cwd":"sub"}`), Dir: "/ws", Grants: []string{"host:example.com"}}
	p.Facts = &agenttool.Facts{Verdicts: agenttool.Verdicts{Destructive: agenttool.Yes}}
	p.Decision.Reason = &agenttool.DecisionReason{Type: "mode", Detail: "it destroys something"}
	p.Decision.SuggestedUpdates = []agenttool.SuggestedUpdate{{Rules: []string{"Shell(make)"}}}
	fmt.Println(asked.Write(p).Text)
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
	long := strings.Repeat("x", 2*asked.MaxText)
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
			q := asked.Write(p)
			if q.Once != tt.once || q.Session != tt.session || len(q.Text) > asked.MaxText+2500 {
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
		if first, _, _ := strings.Cut(asked.Write(p).Text, "\n"); first != "edit  │ "+tt.want {
			t.Errorf("%q: %q", tt.diff, first)
		}
	}
}

// TestOpensWhereShown: directories stay open only where the text names them.
func TestOpensWhereShown(t *testing.T) {
	long := "/srv/" + strings.Repeat("x", asked.MaxText)
	for _, tt := range []struct {
		dirs []string
		want int
	}{{nil, 0}, {[]string{"/srv/a/b"}, 1}, {[]string{"/srv/a/b", long}, 0}, {[]string{"link:/srv/a/b"}, 1}} {
		p := prompt.Prompt{Tool: "shell", Input: json.RawMessage(`{"command":"mkdir /srv/a/b"}`), Opens: tt.dirs}
		q := asked.Write(p)
		if shown := strings.Contains(q.Text, "stays open"); len(q.Opens) != tt.want || shown != (tt.want > 0) {
			t.Errorf("%d directories: %d stay open, shown %v", len(tt.dirs), len(q.Opens), shown)
		}
	}
}
