package protect

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"unicode/utf8"
)

func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, n := range Names() {
		switch {
		case n.Path != fold(n.Path), n.Path != path.Clean(n.Path), strings.HasPrefix(n.Path, "/"), n.Rule == "":
			t.Errorf("%+v is no folded relative name with a rule", n)
		case seen[n.Path]:
			t.Errorf("%s is in the table twice", n.Path)
		}
		seen[n.Path] = true
	}
}

// TestHeadsOfLists: a word in the head of an entry that is not known would count as the strictest, or as a file.
func TestHeadsOfLists(t *testing.T) {
	head := regexp.MustCompile("^(vcs-hooks|vcs-config|shell-startup|editor-config|tool-config|toolhost-settings|ssh|credentials) (asks|reports|seals) (dirs|files): [^:]")
	for _, list := range []string{namesList, homeNamesList} {
		for line := range linesOf(list) {
			if strings.TrimSpace(line) != "" && line[0] != '\t' && !head.MatchString(line) {
				t.Errorf("%q is no head of an entry", line)
			}
		}
	}
	want := Name{"", VCSConfig, true, OnlyAsks, "git: hooks"}
	if got := headOf("vcs-config asks dirs: git: hooks"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		name, path, root string
		want             Rule
	}{
		{"a hook", "/ws/.git/hooks/pre-commit", "/ws", VCSConfig},
		{"another case", "/ws/a/.GIT/config", "/ws", VCSConfig},
		{"the directory itself", "/ws/.vscode", "/ws", EditorConfig},
		{"below it", "/ws/.vscode/a/b", "/ws", EditorConfig},
		{"a file deep down", "/ws/a/b/.bashrc", "/ws", ShellStartup},
		{"a directory called like a file", "/ws/.bashrc/x", "/ws", ""},
		{"asks, not sealed", "/ws/.github/workflows/x.yml", "/ws", ToolConfig},
		{"two components", "/ws/a/.cargo/config.toml", "/ws", ToolConfig},
		{"only the first of two", "/ws/.cargo/registry", "/ws", ""},
		{"only the second of two", "/ws/cargo/config.toml", "/ws", ""},
		{"the two not adjacent", "/ws/.cargo/x/config.toml", "/ws", ""},
		{"the first twice", "/ws/.cargo/.cargo/config", "/ws", ToolConfig},
		{"the root lies in one", "/home/me/.config/ws/a", "/home/me/.config/ws", ""},
		{"outside any root", "/home/me/.config/x", "", ToolConfig},
		{"a longer name", "/ws/.gitignore", "/ws", ""},
		{"a trailing slash", "/ws/.husky/", "/ws", VCSHooks},
		{"the root is all", "/.bashrc", "/", ShellStartup},
		{"the root itself", "/ws", "/ws", ""},
		{"sharp s", "/ws/.ßh/config", "/ws", SSH},
		{"a ligature", "/ws/.gitconﬁg", "/ws", VCSConfig},
		{"long s", "/ws/.baſhrc", "/ws", ShellStartup},
		{"the Kelvin sign", "/ws/.hus\u212ay/x", "/ws", VCSHooks},
		{"an invisible character", "/ws/.g\u200cit/x", "/ws", VCSConfig},
		{"bytes that are no text", "/ws/\xff\xfe/.envrc", "/ws", ShellStartup},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Asks(c.path, c.root)
			if got != c.want || ok != (c.want != "") {
				t.Errorf("Asks(%q, %q) = %q, %v; want %q", c.path, c.root, got, ok, c.want)
			}
		})
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{".BASHRC", ".ßH", "\u200c", "K", "a\xffB", "İ", "ﬃ", "\xe2\x80\u200c\x8c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		folded := fold(name)
		if again := fold(folded); again != folded {
			t.Errorf("fold(%q) = %q, and that folds to %q", name, folded, again)
		}
		if utf8.ValidString(name) && fold(strings.ToUpper(folded)) != fold(strings.ToLower(strings.ToUpper(folded))) {
			t.Errorf("%q: case makes a difference", name)
		}
		if strings.Count(folded, "/") != strings.Count(name, "/") {
			t.Errorf("fold(%q) = %q has other components", name, folded)
		}
	})
}

// FuzzEndsDiffer: a pattern matches no name of which the fast test says that they differ.
func FuzzEndsDiffer(f *testing.F) {
	for _, s := range [][2]string{{"*.pem", "a.pem"}, {".env.*", ".env.x"}, {"{a,b}", "b"}, {`\*a`, "*a"}, {"[a-c]x", "bx"}, {"é*", "éa"}, {"", ""}, {"a?", "ab"}, {`a\b`, "ab"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if matches, err := doublestar.Match(pattern, name); err == nil && matches && endsDiffer(pattern, name) {
			t.Errorf("%q matches %q", pattern, name)
		}
	})
}
