package approve

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/classify"
)

// TestExcerpt checks which lines of a script need not be seen: only those that hold nothing but commands that are allowed.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		name, command string
		want          string // lines with their numbers; empty: the whole command
	}{
		{"one line", "echo; rm x", ""},
		{"a removal at the end", "echo 1\necho 2\nrm x", "3 rm x"},
		{"one in the middle", "echo 1\nrm x\necho 2", "2 rm x"},
		{"two", "rm x\necho 1\n\nrm y\nrm z", "1 rm x|4 rm y/rm z"},
		{"both on a line", "echo 1\necho 2; rm x", "2 echo 2; rm x"},
		{"continued", "echo 1\nrm \\\n x", "2 rm \\/ x"},
		{"a redirection", "echo 1\necho 2 > x", "2 echo 2 > x"},
		{"an assignment", "echo 1\nPATH=. echo 2\nA=1", "2 PATH=. echo 2/A=1"},
		{"a text for a program", "echo 1\npython3 - <<E\n\n# x\nE\necho 2", "2 python3 - <<E//# x/E"},
		{"a comment", "echo 1\n# x\nrm x", "2 # x/rm x"},
		{"a substitution", "echo 1\necho $(rm x)", "2 echo $(rm x)"},
		{"a function", "echo 1\necho() { rm x; }\necho 2\nrm x", "2 echo() { rm x; }|4 rm x"},
		{"nothing is allowed", "rm x\nrm y", ""},
		{"not understood", "echo 1\nif rm", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := classify.Command(c.command, classify.Context{Dir: "/ws"})
			reason := &agenttool.DecisionReason{}
			for _, part := range f.Parts {
				sub := agenttool.Subcommand{Argv: part.Argv, Line: part.Line, Column: part.Column, WrappedBy: part.WrappedBy, Behavior: agenttool.Ask}
				if part.Argv[0] == "echo" {
					sub.Behavior = agenttool.Allow
				}
				reason.Subcommands = append(reason.Subcommands, sub)
			}
			var got []string
			for _, p := range excerpt(c.command, reason) {
				got = append(got, fmt.Sprintf("%d %s", p.line, strings.ReplaceAll(p.text, "\n", "/")))
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}
