package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestGitRuns: every place where git runs as a reader is told, and what the disk says of it decides.
func TestGitRuns(t *testing.T) {
	tests := []struct {
		text string
		want string // DIR[=GITDIR]:VERB, parted by spaces
		base agenttool.Fact
	}{
		{"git status", "/w:status", agenttool.Yes},
		{"git log && git diff", "/w:log /w:diff", agenttool.Yes},
		{"git log; git log", "/w:log", agenttool.Yes},
		{"git -C . log", "/w:log", agenttool.Yes},
		{"git -C /w log", "/w:log", agenttool.Yes},
		{"git --git-dir=.git log", "/w=/w/.git:log", agenttool.Yes},
		{"git --git-dir . log", "/w=/w:log", agenttool.Unknown},
		{"git -C sub log", "/w/sub:log", agenttool.Unknown},
		{"git -C sub/ -C ../x log", "/w/sub/../x:log", agenttool.Unknown},
		{"git -C sub --git-dir=../r.git log", "/w/sub=/w/sub/../r.git:log", agenttool.Unknown},
		{"git --git-dir=/r.git log", "/w=/r.git:log", agenttool.Unknown},
		{"cd sub && git status", "/w/sub:status", agenttool.Unknown},
		{"cd sub; git status", "/w/sub:status /w:status", agenttool.Unknown},
		{"(cd sub && git diff); git diff", "/w/sub:diff /w:diff", agenttool.Unknown},
		{"cd sub && git -C .. log", "/w/sub/..:log", agenttool.Unknown},
		{"pushd sub && git log", "/w/sub:log", agenttool.Unknown},
		{"for d in a b; do git -C $d log; done", "/w/a:log /w/b:log", agenttool.Unknown},
		{"env -C sub git log", "/w/sub:log", agenttool.Unknown},
		{"sh -c 'cd sub && git log'", "/w/sub:log", agenttool.Unknown},
		{"git ls-remote", "/w:ls-remote", agenttool.Yes},
		{"git remote show origin", "/w:ls-remote", agenttool.Yes},
		{"git remote -v", "/w:remote", agenttool.Yes},
		{"git help log", "/w:help", agenttool.Yes},
		{"git --version", "", agenttool.Yes},
		{"git commit -m x", "", agenttool.No},
		{"cat f | git -C sub hash-object --stdin", "/w/sub:hash-object", agenttool.Unknown},
	}
	for _, tt := range tests {
		f := Command(tt.text, testContext)
		var got []string
		settled, bad := map[agenttool.GitRun]string{}, map[agenttool.GitRun]string{}
		for _, run := range f.Git {
			dir := run.Dir
			if run.GitDir != "" {
				dir += "=" + run.GitDir
			}
			got = append(got, fmt.Sprintf("%s:%s", dir, run.Verb))
			settled[run], bad[run] = "", "the disk says no"
		}
		if strings.Join(got, " ") != tt.want || f.ReadOnly != tt.base {
			t.Errorf("%q: git runs in %q, read-only %v; want %q, %v", tt.text, got, f.ReadOnly, tt.want, tt.base)
		}
		if len(got) == 0 {
			continue
		}
		in := testContext
		in.Git = settled
		if strings.HasPrefix(tt.text, "env -C") { // what a wrapper takes elsewhere is not proved
			continue
		}
		if f := Command(tt.text, in); f.ReadOnly != agenttool.Yes {
			t.Errorf("%q: read-only %v where the disk has nothing against it: %v", tt.text, f.ReadOnly, f.Reasons)
		}
		in.Git = bad
		f = Command(tt.text, in)
		if f.ReadOnly == agenttool.Yes || !slices.ContainsFunc(f.Reasons, func(r agenttool.Reason) bool { return r.Text == "the disk says no" }) {
			t.Errorf("%q: read-only %v where the disk says no: %v", tt.text, f.ReadOnly, f.Reasons)
		}
	}
	for _, text := range []string{"cd $x && git log", "git -C $x log", "git --git-dir=$x log", "find . -execdir git log ';'"} {
		in := testContext
		in.Git = map[agenttool.GitRun]string{{Dir: "/w", Verb: "log"}: ""}
		if f := Command(text, in); f.ReadOnly == agenttool.Yes {
			t.Errorf("%q: read-only, and where git runs is not known", text)
		}
	}
}
