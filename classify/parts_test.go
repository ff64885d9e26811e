package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// partTests are command lines with their parts, parted by " ;; ": the words, then where it may start in brackets if that is elsewhere,
// then its facts read_only and paths_complete, y, n or ?; and at the end whether they are complete.
var partTests = []struct{ name, text, want string }{
	{"nothing", "", " => y"},
	{"one", "ls", "ls yy => y"},
	{"read-only beside a build", "git status && npm test", "git status yy ;; npm test n? => y"},
	{"read-only beside what nobody knows", "cat f; frobnicate", "cat f yy ;; frobnicate ?? => y"},
	{"in a directory", "cd sub && npm test", "cd sub yy ;; npm test [/w/sub]n? => y"},
	{"in one of two directories", "cd sub; make", "cd sub yy ;; make [/w/sub,/w]n? => y"},
	{"somewhere", `cd "$x" && make`, "cd … y? ;; make […]n? => y"},
	{"back again", "(cd sub && ls); make", "cd sub yy ;; ls [/w/sub]yy ;; make n? => y"},
	{"elsewhere", "cd /etc && cat passwd", "cd /etc yy ;; cat passwd [/etc]yy => y"},
	{"in the directory of env", "env -C sub make", "env -C sub make n? ;; make [/w/sub]n? => y"},
	{"in the directory of sudo", "sudo -D /etc cat f", "sudo -D /etc cat f n? ;; cat f [/etc]yy => y"},
	{"loop over names", `for f in *.go; do wc -l "$f"; done; npm test`, "wc -l … y? ;; npm test n? => y"},
	{"loop over words", "for f in a b; do cat $f; done", "cat a yy ;; cat b yy => y"},
	{"unknown word", `frobnicate "$x" y`, "frobnicate … y ?? => y"},
	{"unknown program", `"$x" y; ls`, "… y ?? ;; ls ?? => ?"},
	{"wrapped", "timeout 5 npm test", "timeout 5 npm test n? ;; npm test n? => y"},
	{"text for a shell", "bash -c 'ls; make'", "bash -c ls; make n? ;; ls yy ;; make n? => y"},
	{"unknown text for a shell", `bash -c "$x"; git status`, "bash -c … ?? ;; git status yy => ?"},
	{"substitution", "echo $(npm test)", "npm test n? ;; echo … yy => y"},
	{"unparsable", "ls; )", " => ?"},

	{"redirected", "ls > x", "ls yy => y"},
	{"redirected to what is not known", `make > "$x"`, "make n? => ?"},
	{"redirected to another machine", "make > /dev/tcp/example.com/80", "make n? => ?"},
	{"input that is not known", `make < "$x"`, "make n? => ?"},
	{"a redirection in a function", "f() { make > $x; }; f", "make n? ;; f n? ;; make n? => ?"},

	{"with a variable", "A=b make", "make n? => y"},
	{"after an export", "export A=b; make", "export A=b yy ;; make n? => ?"},
	{"after an export of what is set", "A=b; export A; make", "export A yy ;; make n? => ?"},
	{"after a declaration", "declare -x A=b; make", "declare -x A=b yy ;; make n? => ?"},
	{"after an export in a subshell", "(export A=b); make", "export A=b yy ;; make n? => y"},
	{"before an export", "make; export A=b", "make n? ;; export A=b yy => y"},
	{"after a harmless export", "export LC_ALL=C; make", "export LC_ALL=C yy ;; make n? => y"},
	{"after a variable", "a=b; make", "make n? => y"},

	{"after a search path", "PATH=x; ls", "ls ?? => ?"},
	{"before a search path", "ls; PATH=x; ls", "ls yy ;; ls ?? => ?"},
	{"with a search path", "PATH=x ls; cat f", "ls ?? ;; cat f yy => y"},
	{"with a search path of env", "env PATH=x ls", "env PATH=x ls ?? ;; ls ?? => y"},
	{"after eval", "eval x; ls", "eval x ?? ;; ls ?? => y"},
	{"after source", "source f; ls", "source f ?? ;; ls ?? => y"},
	{"after eval in a subshell", "(eval x); ls", "eval x ?? ;; ls yy => y"},
	{"after eval in a pipeline", "eval x | cat; ls", "eval x ?? ;; cat yy ;; ls yy => y"},
	{"after eval in a loop", "for i in 1 2; do ls; eval x; done", "ls yy ;; eval x ?? ;; ls ?? ;; eval x ?? => y"},
	{"in a loop with eval", "while ls; do eval x; done", "ls ?? ;; eval x ?? => y"},
	{"after an alias", "alias ls=rm; ls", "alias ls=rm ?? ;; ls ?? => y"},
	{"after hash", "hash -p /x ls; ls", "hash -p /x ls ?? ;; ls ?? => y"},
	{"after a trap", "trap x DEBUG; ls", "trap x DEBUG ?? ;; ls ?? => y"},
	{"after getopts", "getopts a PATH; ls", "getopts a PATH ?? ;; ls ?? => y"},
	{"after enable", "enable -n test; ls", "enable -n test ?? ;; ls ?? => y"},
	{"after an unknown option", "set -k; ls", "set -k ?? ;; ls ?? => y"},
	{"after what may set a variable", "printf -v PATH x; ls", "printf -v PATH x ?? ;; ls ?? => y"},
	{"after a function that nobody knows", "f() { eval x; }; f; ls", "eval x ?? ;; f ?? ;; eval x ?? ;; ls ?? => y"},
	{"after an expansion that runs", "echo ${x@P}; ls", "echo … ?? ;; ls ?? => ?"},
}

func TestParts(t *testing.T) {
	for _, tt := range partTests {
		t.Run(tt.name, func(t *testing.T) {
			f := Command(tt.text, testContext)
			var got []string
			for _, p := range f.Parts {
				got = append(got, shownPart(p))
			}
			if all := strings.Join(got, " ;; ") + " => " + shownFact(f.PartsComplete); all != tt.want {
				t.Errorf("%q: got %q, want %q", tt.text, all, tt.want)
			}
		})
	}
}

func shownPart(p agenttool.Part) string {
	dirs := ""
	if p.Dirs != nil {
		dirs = "[" + strings.Join(p.Dirs, ",") + "]"
	}
	return strings.Join(p.Argv, " ") + " " + dirs + shownFact(p.ReadOnly) + shownFact(p.PathsComplete)
}

func shownFact(f agenttool.Fact) string {
	return map[agenttool.Fact]string{agenttool.Yes: "y", agenttool.No: "n", agenttool.Unknown: "?"}[f]
}

func TestPartsHaveTheirPlace(t *testing.T) {
	var got []string
	for _, p := range Command("echo a | command wc -l; frobnicate \"$x\"", testContext).Parts {
		got = append(got, fmt.Sprintf("%s@%d:%d^%d %v", strings.Join(p.Argv, " "), p.Line, p.Column, p.WrappedBy, p.Exact))
	}
	want := []string{"echo a@1:1^-1 true", "command wc -l@1:10^-1 true", "wc -l@1:18^1 true", "frobnicate …@1:25^-1 false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPathsHaveTheirUser: which simple command touches a path, and whether it reads more than the name.
func TestPathsHaveTheirUser(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"contents", "cat f", "r:/w/f@1"},
		{"names", "ls d; stat e; test -f f; [ -d g ]; realpath h", "n:/w/d@1 n:/w/e@2 n:/w/f@3 n:/w/g@4 n:/w/h@5"},
		{"a condition", "[[ -f f && a -nt b ]]", "n:/w/f@0 n:/w/a@0 n:/w/b@0"},
		{"a pattern", "echo d/*", "n:/w/d@0"},
		{"a pattern that is read", "cat d/*", "r:/w/d@0"},
		{"a directory", "cd d", "n:/w/d@1"},
		{"both", "ls f; cat f", "r:/w/f@1"},
		{"both, the other way round", "cat f; ls f", "r:/w/f@1"},
		{"by the shell", "wc < f > g", "r:/w/f@0 w:/w/g@0"},
		{"by a command", "wc f | tee g", "r:/w/f@1 w:/w/g@2"},
		{"by two commands", "tee f; tee f; tee f", "w:/w/f@1 w:/w/f@2 w:/w/f@3"},
		{"by what is wrapped", "timeout 5 tee f", "w:/w/f@2"},
		{"by the shell in a shell", "bash -c 'ls > f' 2> g", "n:/w/.@2 w:/w/g@0 w:/w/f@0"},
		{"by the shell in a function", "f() { echo > g; }; f", "w:/w/g@0"},
		{"what is moved", "mv a b", "r:/w/a@1 w:/w/a@1 w:/w/b@1"},
		{"below a directory that is known", `cat d/"$x"`, "r:/w/d@1"},
		{"sourced", "source f", "r:/w/f@1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := Command(tt.text, testContext)
			var got []string
			for _, p := range f.Reads {
				got = append(got, fmt.Sprintf("%s:%s@%d", map[bool]string{true: "n", false: "r"}[p.Names], p.Absolute, p.By))
			}
			for _, p := range f.Writes {
				got = append(got, fmt.Sprintf("w:%s@%d", p.Absolute, p.By))
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("%q: got %s, want %s", tt.text, all, tt.want)
			}
		})
	}
}
