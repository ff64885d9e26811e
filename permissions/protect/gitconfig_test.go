package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var gitConfigs = []struct {
	name, text      string
	includes, hooks []string
}{
	{"plain", "[core]\n\thooksPath = .githooks\n", nil, []string{".githooks"}},
	{"any case, one line", "[CORE] HOOKSPATH=h\n", nil, []string{"h"}},
	{"quoted, escaped", "[core]\nhooksPath = \"a b\\\\c # d\" ; rest\n", nil, []string{`a b\c # d`}},
	{"comment ends it", "[core]\nhooksPath = a # b\n", nil, []string{"a"}},
	{"blanks inside", "[core]\nhooksPath = a b\t \n", nil, []string{"a b"}},
	{"continued", "[core]\nhooksPath = a\\\nb\n", nil, []string{"ab"}},
	{"crlf and mark", "\ufeff[core]\r\nhooksPath = a\r\n", nil, []string{"a"}},
	{"no newline at the end", "[core]\nhooksPath = a", nil, []string{"a"}},
	{"include", "[include]\npath = x\npath=~/y\n", []string{"x", "~/y"}, nil},
	{"include if", "[includeIf \"gitdir:/a]b/\"]\npath = z\n", []string{"z"}, nil},
	{"commented out", "[core]\n#hooksPath = a\n;hooksPath = b\n", nil, nil},
	{"no value", "[core]\nhooksPath\n[include]\npath\n", nil, nil},
	{"path elsewhere", "[submodule \"x\"]\npath = x\n", nil, nil},
}

func TestGitConfig(t *testing.T) {
	for _, c := range gitConfigs {
		t.Run(c.name, func(t *testing.T) {
			got := parseGitPaths(c.text)
			if !slices.Equal(got.includes, c.includes) || !slices.Equal(got.hooks, c.hooks) {
				t.Errorf("includes %q, hooks %q; want %q, %q", got.includes, got.hooks, c.includes, c.hooks)
			}
		})
	}
}

// FuzzGitConfig: what git itself reads as core.hooksPath or include.path is always found.
func FuzzGitConfig(f *testing.F) {
	for _, c := range gitConfigs {
		f.Add(c.text)
	}
	f.Add("\ufeff[core]hooksPath = \r a\r")
	f.Add("[core]hooksPath = a b\t@")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.ContainsRune(text, 0) {
			return
		}
		found := parseGitPaths(text)
		for _, value := range append(found.includes, found.hooks...) {
			if value == "" {
				t.Error("an empty value")
			}
		}
		if _, err := exec.LookPath("git"); err != nil {
			return
		}
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for key, have := range map[string][]string{"core.hookspath": found.hooks, "include.path": found.includes} {
			out, err := exec.Command("git", "config", "--no-includes", "-z", "-f", file, "--get-all", key).Output()
			if err != nil {
				continue // git finds none, or refuses the file
			}
			for value := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
				if value != "" && !slices.Contains(have, value) {
					t.Errorf("git reads %s = %q, we read %q in %q", key, value, have, text)
				}
			}
		}
	})
}

func TestGitPath(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"a", "/d/a"}, {"../a", "/d/../a"}, {"/a", "/a"}, {"~/a", "/home/me/a"}, {"~", "/home/me/"}, {"~me/a",
			"/home/me/a"},
		{"~you/a", ""}, {"%(prefix)/a", ""}, {"", ""}, {"a\x00", ""}, {":(optional)a", "/d/a"},
	} {
		if got := GitPath(c.value, "/d", "/home/me"); got != c.want {
			t.Errorf("GitPath(%q) = %q, want %q", c.value, got, c.want)
		}
	}
}
