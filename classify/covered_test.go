package classify

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestWhatRulesLookThrough: for each simple command, what rules that allow need to know besides its words: whether it only passes a command
// on, its variables with their influence, its words without the options of git, and whether its unknown words are text.
func TestWhatRulesLookThrough(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"timeout 5 make", "timeout passes; make"},
		{"bash -c 'nice make'", "bash passes; nice passes; make"},
		{"bash -c 'make > $x'", "bash passes; make"}, // the redirection is one of the line
		{"bash -i -c make", "bash; make"},
		{"sh -c 'make &> a'", "sh; make"},
		{"sudo make", "sudo; make"},
		{"xargs make", "xargs; make"},
		{"time -p make", "make"},
		{"\\time -o f make", "time; make"},
		{"chrt 1 make", "chrt; make"},
		{"chrt -i 0 make", "chrt passes; make"},
		{"setsid -f make", "setsid passes; make"},
		{"env -C a make", "env; make"},
		{"env -i make", "env; make"},
		{"env A=b PORT=1 make", "env passes; make A=b:acts PORT=1:shows"},
		{"PORT=1 timeout 5 make", "timeout passes PORT=1:shows; make PORT=1:shows"},
		{"PYTHONPATH=. X=$y PATH=. make", "make PYTHONPATH=.:finds X=:runs PATH=.:runs"},
		{"PORT=1 make; ls", "make PORT=1:shows; ls"},
		{"git -C a -c color.ui=never --no-pager add b", "git means git add b in /w/a"},
		{"git -C a -C b add c", "git means git add c in /w/a/b"},
		{"git -C /w add c", "git means git add c in /w/."},
		{"git -c core.editor=x commit", "git"},
		{"git -C \"$x\" add c", "git"},
		{"git add c", "git"},
		{"git commit -m \"a $x\"", "git loose"},
		{"git commit \"a$x\"", "git loose"},
		{"git commit -m $x", "git"},
		{"./x \"v$x\"", "./x loose"},
		{"./x \"$x\"", "./x"},
		{"cp \"a$x\" b", "cp"},
		{"sed \"s/a/$x/\" f", "sed"},
		{"npm exec \"a$x\"", "npm"},
		{"npm test \"a$x\"", "npm loose"},
	} {
		var parts []string
		for _, part := range Command(c.text, Context{Dir: "/w", Home: "/home/u"}).Parts {
			parts = append(parts, lookedThrough(part))
		}
		if got := strings.Join(parts, "; "); got != c.want {
			t.Errorf("%s: %s; want %s", c.text, got, c.want)
		}
	}
}

func lookedThrough(part agenttool.Part) string {
	text := part.Argv[0]
	if part.Passes {
		text += " passes"
	}
	for _, v := range part.Variables {
		text += fmt.Sprintf(" %s=%s:%s", v.Name, v.Value, [...]string{"runs", "finds", "acts", "shows"}[v.Influence])
	}
	if part.Means != nil {
		text += " means " + strings.Join(part.Means, " ")
	}
	if part.MeansIn != nil {
		text += " in " + strings.Join(part.MeansIn, " ")
	}
	if part.Loose {
		text += " loose"
	}
	return text
}
