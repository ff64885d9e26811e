package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIgnoreFile(t *testing.T) {
	tests := []struct {
		name, text, path string
		dir, want        bool
	}{
		{"name at any depth", "x.log\n", "a/b/x.log", false, true},
		{"suffix", "*.log", "a/b/x.log", false, true},
		{"anchored", "/x", "a/x", false, false},
		{"anchored at the top", "/x", "x", false, true},
		{"inner slash anchors", "a/x", "b/a/x", false, false},
		{"directories only", "x/", "x", false, false},
		{"directories only, a directory", "x/", "a/x", true, true},
		{"the last rule wins", "*.log\n!keep.log\n", "keep.log", false, false},
		{"and the one after it", "*.log\n!keep.log\nkeep.*\n", "keep.log", false, true},
		{"comment", "#x\n", "#x", false, false},
		{"escaped comment", "\\#x\n", "#x", false, true},
		{"escaped negation", "\\!x\n", "!x", false, true},
		{"trailing spaces", "x  \n", "x", false, true},
		{"protected trailing space", "x\\ \n", "x ", false, true},
		{"one of two protected", "x\\  \n", "x ", false, true},
		{"a tab stays", "x\t\n", "x", false, false},
		{"crlf", "x\r\ny\r\n", "x", false, true},
		{"no end of line", "y\nx", "x", false, true},
		{"byte order mark", "\ufeffx\n", "x", false, true},
		{"cut at NUL", "x\x00y\n", "x", false, true},
		{"double slash matches nothing", "x//\n", "x", true, false},
		{"star after a literal path", "a/x**/y\n", "a/xb/c/y", false, true},
		{"malformed set", "[x\n", "[x", false, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := rules{git: (*ruleset)(nil).add("", tc.text)}
			if got := r.ignores(tc.path, tc.dir); got != tc.want {
				t.Errorf("ignores(%q) = %v", tc.path, got)
			}
		})
	}
}

func TestIgnorePrecedence(t *testing.T) {
	tr := plant(t, map[string]string{
		".gitignore":                 "*.log\nbuild/\nsub/anchored\n",
		".ignore":                    "!wanted.log\nsecret\n",
		"wanted.log":                 "x",
		"other.log":                  "x",
		"secret":                     "x",
		"build/in.txt":               "x",
		"build/.gitignore":           "!*",
		"sub/.gitignore":             "!deep.log\nlocal\n",
		"sub/deep.log":               "x",
		"sub/local":                  "x",
		"sub/anchored":               "x",
		"sub/more/local":             "x",
		"local":                      "x",
		"vendored/.git/HEAD":         "ref: refs/heads/main\n",
		"vendored/own.log":           "x",
		"vendored/secret":            "x",
		"vendored/.git/info/exclude": "own.tmp\n",
		"vendored/own.tmp":           "x",
	})
	tests := []struct {
		name, input string
		want        []string
	}{
		{"all rules", `{"pattern":"**"}`, []string{"local", "sub/deep.log", "vendored/own.log", "wanted.log"}},
		{"rules of the directories above", `{"pattern":"**","path":"sub"}`, []string{"sub/deep.log"}},
		{"an ignored root is searched", `{"pattern":"**","path":"build"}`, []string{"build/in.txt"}},
		{"no_ignore", `{"pattern":"**","path":"sub","no_ignore":true}`,
			[]string{"sub/anchored", "sub/deep.log", "sub/local", "sub/more/local"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, got := tr.glob(t, tc.input); !slices.Equal(got.Paths, tc.want) {
				t.Errorf("got  %q\nwant %q", got.Paths, tc.want)
			}
		})
	}
}

// Random trees with hostile ignore files list what git lists.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	trees := 60
	if testing.Short() {
		trees = 10
	}
	for seed := range trees {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(uint64(seed), 7))}
			tr := plant(t, g.tree())
			want := gitFiles(t, git, tr.dir)
			_, got := tr.glob(t, `{"pattern":"**","hidden":true,"limit":10000}`)
			if !slices.Equal(got.Paths, want) {
				t.Errorf("got  %q\nwant %q\nignore files:\n%s", got.Paths, want, ignoreFiles(t, tr.dir))
			}
		})
	}
}

// gitFiles returns what git lists below dir, in byte order.
func gitFiles(t *testing.T, git, dir string) []string {
	t.Helper()
	command := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_DIR=")
		cmd.Env = slices.DeleteFunc(cmd.Env, func(s string) bool { return strings.HasPrefix(s, "GIT_DIR=") })
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	exclude, _ := os.ReadFile(filepath.Join(dir, ".git/info/exclude"))
	command("init", "-q")
	if err := os.WriteFile(filepath.Join(dir, ".git/info/exclude"), exclude, 0o644); err != nil {
		t.Fatal(err)
	}
	out := strings.TrimSuffix(command("ls-files", "-co", "-z", "--exclude-standard"), "\x00")
	files := slices.DeleteFunc(strings.Split(out, "\x00"), func(s string) bool { return s == "" })
	slices.Sort(files)
	return files
}

func ignoreFiles(t *testing.T, dir string) string {
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if base := filepath.Base(path); base == ".gitignore" || base == "exclude" {
			b, _ := os.ReadFile(path)
			fmt.Fprintf(&out, "%s:\n%q\n", path, strings.Split(string(b), "\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// generator makes trees whose names and ignore patterns often meet.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) name() string {
	return g.pick("a", "b", "ab", "abc", "a.c", "b.c", "foo", "foo.o", "bar", ".x", "a b", "b ", "#c", "!d", "[e]",
		"a-b", "a*b", `a\b`, "é", "7", "]", "A")
}

func (g generator) tree() map[string]string {
	files := map[string]string{}
	dirs := []string{""}
	for range 8 {
		dirs = append(dirs, g.pick(dirs...)+g.name()+"/")
	}
	taken := map[string]bool{}
	for _, d := range dirs {
		taken[strings.TrimSuffix(d, "/")] = true
	}
	for range 40 {
		if name := g.pick(dirs...) + g.name(); !taken[name] {
			files[name] = "x"
		}
	}
	for _, d := range dirs {
		if g.IntN(3) == 0 || d == "" {
			files[d+".gitignore"] = g.ignoreFile()
		}
	}
	files[".git/info/exclude"] = g.ignoreFile()
	return files
}

func (g generator) ignoreFile() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		b.WriteString(g.pattern() + g.pick("\n", "\n", "\n", "\n", "\r\n", " \n", "\\ \n", "\t\n"))
	}
	return b.String()
}

func (g generator) pattern() string {
	p := g.pick("", "", "", "!", "/", "**/", "!/", "#", `\`, "//")
	for range 1 + g.IntN(3) {
		p += g.element() + g.pick("", "", "/", "/", "/**/", "*", "**", `\/`)
	}
	return p + g.pick("", "", "", "/", "/*", "/**", "//", `\`)
}

func (g generator) element() string {
	if g.IntN(2) == 0 {
		return g.name()
	}
	return g.pick("*", "**", "?", "a*", "*.c", "*b", "[ab]*", "[!a]", "[!ab]*", "[a-c]", "[]a]", "[^.]*", "[[:alpha:]]*",
		"[[:digit:]]", "[a", "[!", `\a`, `\*`, `\[e]`, "f??", "***", "[a/b]", "[[:x:]]", `[\]]`, "[a-]", ".*")
}

// FuzzIgnoreFile: no pattern panics, and a negated pattern after one that ignores everything decides as often as the
// pattern itself, the other way round.
func FuzzIgnoreFile(f *testing.F) {
	for _, tc := range wildmatchCases {
		f.Add(tc.pattern, tc.name, false)
	}
	f.Add("a/b/", "a/b", true)
	f.Add("!x ", "x", false)
	f.Fuzz(func(t *testing.T, pattern, path string, dir bool) {
		if len(pattern)+len(path) > 300 {
			return
		}
		(*ruleset)(nil).add("", pattern).match(path, dir) // whole files may be anything
		pattern = strings.Map(func(r rune) rune {
			if r == '\n' || r == 0 {
				return 'n'
			}
			return r
		}, pattern)
		if strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, "#") || strings.HasPrefix(pattern, "\ufeff") {
			return
		}
		plain := (*ruleset)(nil).add("", pattern).match(path, dir)
		negated := (*ruleset)(nil).add("", "!"+pattern).match(path, dir)
		if (plain == ignored) != (negated == included) || plain == included || negated == ignored {
			t.Errorf("%q on %q: %v, negated %v", pattern, path, plain, negated)
		}
	})
}
