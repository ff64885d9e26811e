package gitconfig

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// list writes settings as "git config --list -z" does.
func list(text string) string {
	var b strings.Builder
	for s, err := range Parse(text) {
		if err != nil {
			break
		}
		b.WriteString(s.Key)
		if !s.Bare {
			b.WriteString("\n" + s.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

func TestSettings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "[core]\n\ta = b\n", "core.a\nb\x00"},
		{"case", "[CoRe]A-1=B", "core.a-1\nB\x00"},
		{"bare", "[x]\na\nb = \n", "x.a\x00x.b\n\x00"},
		{"on the header's line", "[x] a = 1 [y]\n[y] b = 2", "x.a\n1 [y]\x00y.b\n2\x00"},
		{"subsection", "[x \"A ]b\"]\nc=1", "x.A ]b.c\n1\x00"},
		{"subsection with a dot", "[x.Y]\nc=1", "x.y.c\n1\x00"},
		{"comments", "# a\n; b\n[x] # c\na = 1 ; d\nb = \"# e\" # f", "x.a\n1\x00x.b\n# e\x00"},
		{"blanks", "[x]\na =  b  c\t \nd = \" e \" ", "x.a\nb  c\x00x.d\n e \x00"},
		{"quotes within", `[x] a = b" c"d`, "x.a\nb cd\x00"},
		{"escapes", `[x] a = \"\\\t\n\b`, "x.a\n\"\\\t\n\b\x00"},
		{"joined lines", "[x]\na = b\\\n  c\nd = \\\r\ne", "x.a\nb  c\x00x.d\ne\x00"},
		{"no joined comment", "[x]\na = b # \\\nc = d", "x.a\nb\x00x.c\nd\x00"},
		{"byte order mark, crlf", "\ufeff[x]\r\na = b\r\n", "x.a\nb\x00"},
		{"ends at an unknown escape", "[x]\na=1\nb = \\x\nc=1", "x.a\n1\x00"},
		{"ends at an open quote", "[x]\na=1\nb = \"c\nd=1", "x.a\n1\x00"},
		{"ends at a bad key", "[x]\na=1\n1b = 1\nd=1", "x.a\n1\x00"},
		{"ends at a bad header", "[x]\na=1\n[y\nd=1", "x.a\n1\x00"},
		{"ends at an open subsection", "[x]\na=1\n[y \"a\n\"]\nd=1", "x.a\n1\x00"},
		{"no value, no end", "[x]\na b", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := list(tc.text); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestBoolean(t *testing.T) {
	for text, want := range map[string][2]bool{
		"true": {true, true}, "YES": {true, true}, "On": {true, true}, "1": {true, true}, "-2": {true, true},
		"1k": {true, true}, "0x10": {true, true}, "false": {false, true}, "no": {false, true}, "OFF": {false, true},
		"": {false, true}, "0": {false, true}, "0m": {false, true}, "maybe": {false, false}, "k": {false, false},
	} {
		value, ok := Setting{Value: text}.Bool()
		if got := [2]bool{value, ok}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if value, ok := (Setting{Bare: true}).Bool(); !value || !ok {
		t.Error("a bare setting is not true")
	}
}

var (
	files = flag.Int("files", 60, "how many random files are compared with git")
	seed  = flag.Uint64("seed", 1, "where the random files begin")
)

// Random configuration files mean what they mean to git, up to the place where it refuses them.
func TestSettingsAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	for i := range *files {
		g := generator{rand.New(rand.NewPCG(*seed, uint64(i)))}
		text := g.config()
		cmd := exec.Command(git, "config", "--no-includes", "--list", "-z", "-f", "-")
		cmd.Stdin = strings.NewReader(text)
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // what it printed before it refused the rest counts
		blanks := strings.NewReplacer("\t", " ", "\v", " ", "\f", " ", "\r", " ")
		if got, want := blanks.Replace(list(text)), blanks.Replace(out.String()); got != want {
			t.Errorf("%d: %q\ngot  %q\nwant %q", i, text, got, want)
		}
	}
}

// generator makes random files.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) config() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "\ufeff"))
	fmt.Fprintf(&b, "[%s]", g.pick("core", "Core", "a.b", "x-1"))
	for range 1 + g.IntN(12) {
		b.WriteString(g.pick("\n", "\n", "\n\t", "\r\n", " ", "", "\n[core]",
			"\n[x \"Y z\"]", "\n[x \"Y\\\nz\"]", "\n[x\t\"]\"]\n", "\n; c\n", "#d\n"))
		b.WriteString(g.pick("a", "Key-2", "b", "ignoreCase", "\nz") + g.pick("", " ", "\t") + g.pick("=", "=", "=", "\n", ""))
		for range g.IntN(5) {
			b.WriteString(g.pick("v", " ", "w x", "\t", `"`, `" q "`, `""`,
				`\"`, `\\`, `\n`, `\t`, "\\\n", "\\\r\n", "#", ";", "é", "=", "[", "]",
				"\r", "~/x"))
		}
	}
	return b.String() + g.pick("", "\n", `\`, "\x00", "\\\x00\n")
}

// No text panics, and none yields more settings than it has bytes.
func FuzzSettings(f *testing.F) {
	f.Add("[core]\n\texcludesFile = ~/x # y\n[include \"a\\\"]\"] path = \"b\\\nc\"")
	f.Add("[include \"a\\\n[\"] p")
	f.Fuzz(func(t *testing.T, text string) {
		count := 0
		for s := range Parse(text) {
			s.Bool()
			count++
			if strings.ContainsAny(s.Key, "\n") || len(s.Key)+len(s.Value) > len(text)+1 {
				t.Errorf("%q has %+v", text, s)
			}
		}
		if count > len(text) {
			t.Errorf("%q has %d settings", text, count)
		}
	})
}
