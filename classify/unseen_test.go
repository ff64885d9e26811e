package classify

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestMentionsWhatRuns: bash ran each of these names, and the mentions had none that it may be. The differential fuzzer found the first four.
func TestMentionsWhatRuns(t *testing.T) {
	tests := []struct{ name, text, runs string }{
		{"an expression that is a subshell", "m3 $(($(echo -n-n \"\" <<\\E\n$(\nE\n)))", "-n-n"},
		{"the last newlines that echo prints", "\"$(echo '\nE\n')\"", "\nE"},
		{"a pattern that echo prints", "true|& `echo\t*`in\t-", "catin"},
		{"a variable that a process in the background is given", "m2 if$(x=1 y=${x-\\'} & ( echo\t' ]]=' \n$x\"}|& \" ))", "}|& "},
		{"a case in an expression", "echo $(($(case x in x) rm f;; esac)) )", "rm"},
		{"a redirected echo prints nothing", "$(echo a >f) rm x", "rm"},
		{"an escape that echo prints", "$(echo -e 'r\\x6d') x", "rm"},
		{"a format", "$(printf %c%c ruby more) x", "rm"},
		{"braces in what echo prints", "$(echo {r,s}m) x", "rm"},
		{"a word that is no option of echo", "$(echo -n-e rm)", "-n-e"},
		{"a pattern that echo prints among words", "$(echo nice r?) x", "rm"},
		{"a pattern that a variable holds", "x='r?'; $x f", "rm"},
		{"a pattern that a variable holds among words", "x='r? -f'; $x f", "rm"},
		{"a pattern in the home directory", "~/bin/r? f", "/home/u/bin/rm"},
		{"two words that a variable may hold", "x='git push' & $x rm f", "rm"},
		{"a variable that is given a torn one", "x=a & y=$x; rm$y f", "rm"},
		{"a variable that is given a pattern", "x=$(echo r?); $x f", "rm"},
		{"a variable of a function that may not run", "f() { x=ls; }; $x rm f", "rm"},
		{"a variable of another shell", "bash -c 'x=ls'; $x rm f", "rm"},
		{"a variable that a default is assigned to", "x=; : ${x:=rm}; $x f", "rm"},
		{"a variable that an expression sets", "x=; ((x = 5)); $x rm", "5"},
		{"a variable that an expression counts", "x=; : $((x++)); $x rm", "0"},
		{"the last word of the last command", "_=ls; echo rm; $_ f", "rm"},
		{"what read sets without a name", "REPLY=ls; read <<< rm; $REPLY f", "rm"},
		{"the end of the options of time", "time -p\t-- m2 \\\n!", "m2"},
		{"the end of the options of time without one", "time -- m2", "m2"},
		{"the end of the options of time before a keyword", "time -p -- ! m2", "m2"},
		{"braces that the parser does not find", "mEOF{a},b}<<< \"\"", "mEOFb"},
		{"braces that the parser does not find, behind env", "env {A=b},rm} x", "rm"},
		{"a variable that is set on the left of a pipe", "x=1 y=b |& >f '/a/r'm$x f", "/a/rm"},
		{"a variable that is set on the left of two pipes", "x=1 | cat | rm$x f", "rm"},
		{"escaped backquotes that >& names", "m1 >&\\`m2\\`2", "m2"},
		{"a quoted substitution that >& names", "m1 >&'$(m2)'", "m2"},
		{"a substitution in a variable that >& names", "x='$(m2)'; m1 >&$x", "m2"},
		{"a quoted substitution that >& names before its command", ">&'$(m2)' m1", "m2"},
		{"braces around an expansion that has some", "m3{a,${x%%{a,b}} f", "m3{a,}"},
		{"a quoted blank beside a variable", "x='rm f'; '/a b/'$x", "/a b/rm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Command(tt.text, testContext)
			if !got.Unmentioned && !slices.ContainsFunc(got.Mentions, func(argv []string) bool { return mentions(argv, []string{tt.runs}) }) {
				t.Errorf("%q may run %q, and mentions %q", tt.text, tt.runs, got.Mentions)
			}
		})
	}
}

// TestOptionsOfTimeAreNoCommand: what runs behind time -p -- is none of its parts to the parser.
func TestOptionsOfTimeAreNoCommand(t *testing.T) {
	for _, text := range []string{"time -p -- rm -f x", "time -p\\\n -- rm -f x", "time -p -p rm", "time -- rm -f x", "! time -p -- rm x"} {
		if got := Command(text, testContext); got.PartsComplete == agenttool.Yes || got.ReadOnly == agenttool.Yes {
			t.Errorf("%q: parts %s complete", text, shown(got.Parts))
		}
	}
}

// TestTildeInAnArgumentLikeAnAssignment: bash expands the one behind a colon, whatever stands before that.
func TestTildeInAnArgumentLikeAnAssignment(t *testing.T) {
	for _, text := range []string{"ls y='; }c1':~", "ls y=$HOME:~/a", "ls y+=\"a\":~", "ls y=a:~"} {
		got := Command(text, testContext)
		for _, p := range got.Parts {
			if !slices.ContainsFunc(p.Argv, func(word string) bool { return strings.HasSuffix(word, "…") }) && got.PartsComplete == agenttool.Yes {
				t.Errorf("%q: parts %q", text, p.Argv)
			}
		}
	}
}

// TestTargetsThatBashExpandsTwice: echo >&'$(touch f)' makes f. Lines with such a target are not believed; others are.
func TestTargetsThatBashExpandsTwice(t *testing.T) {
	for text, complete := range map[string]bool{
		"echo >&'$(rm x)'": false, "echo >&\\`rm x\\`": false, "echo >&\"\\`rm x\\`\"": false, "x='$(rm x)'; echo >&$x": false, "echo >&\"$x\"": false,
		"echo 1>&'$(rm x)'": false, ">&'${x:=$(rm x)}' echo": false, "{ echo; } >&'$(rm x)'": false,
		"echo >&2": true, "echo 2>&1": true, "echo >&a.txt": true, "echo >&'a-b.txt'": true, "echo >&-": true, "echo &>'$(rm x)'": true, "echo >'$(rm x)'": true,
	} {
		got := Command(text, testContext)
		if (got.PartsComplete == agenttool.Yes) != complete || !complete && !got.Unmentioned {
			t.Errorf("%s: parts complete %s, unmentioned %v, want %v", text, got.PartsComplete, got.Unmentioned, complete)
		}
	}
}
