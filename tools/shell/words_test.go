package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestPlainWords(t *testing.T) {
	tests := []struct {
		name, command string
		want          []string
	}{
		{"one word", "ls", []string{"ls"}},
		{"flags and paths", "git log --oneline -n 5 HEAD@1 a/b.c",
			[]string{"git", "log", "--oneline", "-n", "5", "HEAD@1", "a/b.c"}},
		{"spaces", "  ls   -l  ", []string{"ls", "-l"}},
		{"assignment as a later word", "env A=b ls", []string{"env", "A=b", "ls"}},
		{"wrapper", "command ls -l", []string{"command", "ls", "-l"}},
		{"assignment first", "A=b ls", nil},
		{"append first", "A+=b ls", nil},
		{"job", "%1 x", nil},
		{"empty", "", nil},
		{"spaces only", "   ", nil},
		{"reserved word", "if true", nil},
		{"time", "time ls", nil},
		{"eval", "eval ls", nil},
		{"dot", ". file", nil},
		{"builtin eval", "builtin eval ls", nil},
		{"command -p eval", "command -p eval ls", nil},
		{"newline", "ls\nrm", nil},
		{"trailing newline", "ls\n", nil},
		{"tab", "ls\tx", nil},
		{"carriage return", "ls\r", nil},
		{"list", "ls; rm x", nil},
		{"pipe", "ls | sh", nil},
		{"background", "ls &", nil},
		{"redirect", "ls > x", nil},
		{"quotes", "ls 'x'", nil},
		{"backslash", `ls \x`, nil},
		{"variable", "ls $x", nil},
		{"glob", "ls *", nil},
		{"question mark", "ls a?", nil},
		{"set", "ls [ab]", nil},
		{"braces", "ls {a,b}", nil},
		{"tilde", "ls ~", nil},
		{"comment", "ls #x", nil},
		{"history", "ls !x", nil},
		{"negation", "! ls", nil},
		{"substitution", "ls `x`", nil},
		{"beyond ASCII", "ls é", nil},
		{"no-break space", "ls\u00a0x", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plainWords(tt.command); !slices.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
				t.Errorf("plainWords(%q) = %q, want %q", tt.command, got, tt.want)
			}
		})
	}
}

// FuzzPlainWords compares with bash: what is called plain words is split by bash into the same words, and the
// first is a word that is looked up as a command. The words are only printed, never run.
func FuzzPlainWords(f *testing.F) {
	for _, seed := range []string{"ls -l", " a  b=c ", "if", "x=1", "%1", "-n -e %s", "@ +x =y", "a:b,c @/x", "then x",
		"in"} {
		f.Add(seed)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash to compare with")
	}
	f.Fuzz(func(t *testing.T, command string) {
		words := plainWords(command)
		if words == nil {
			return
		}
		out, err := exec.Command(bash, "--norc", "-c", "--", `printf '%s\0' `+command).Output()
		if err != nil {
			t.Fatalf("%q: %v", command, err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
			t.Errorf("plainWords(%q) = %q, bash has %q", command, words, got)
		}
		kind, _ := exec.Command(bash, "--norc", "-c", "--", `type -t -- "$1"`, "bash", words[0]).Output()
		if string(kind) == "keyword\n" {
			t.Errorf("%q is a reserved word", words[0])
		}
	})
}
