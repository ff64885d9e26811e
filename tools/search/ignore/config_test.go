package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"toolhost/tools/gitconfig"
)

// list writes settings as "git config --list -z" does.
func list(text string) string {
	var b strings.Builder
	for s, err := range gitconfig.Parse(text) {
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

// Random configuration files mean what they mean to git, up to the place where it refuses them.
func TestSettingsAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	for i := range *trees {
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
		for s := range gitconfig.Parse(text) {
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
