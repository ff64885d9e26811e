package ignore

import (
	"fmt"
	"strings"
	"testing"
)

var ruleCases = []struct {
	name, text, path string
	dir, want        bool
}{
	{"name at any depth", "x.log\n", "a/b/x.log", false, true},
	{"ending", "*.log", "a/b/x.log", false, true},
	{"ending with two dots", "*.tar.gz", "a/x.tar.gz", false, true},
	{"ending with two dots, one is there", "*.tar.gz", "a/x.gz", false, false},
	{"the ending alone", "*.log", ".log", false, true},
	{"ending without a dot", "*~", "a/x~", false, true},
	{"anchored", "/x", "a/x", false, false},
	{"anchored at the top", "/x", "x", false, true},
	{"inner slash anchors", "a/x", "b/a/x", false, false},
	{"inner slash", "a/x", "a/x", false, true},
	{"directories only", "x/", "x", false, false},
	{"directories only, a directory", "x/", "a/x", true, true},
	{"a directory, then a file of the same name", "!x\nx/\n", "x", false, false},
	{"a file, then a directory of the same name", "x\n!x/\n", "x", false, true},
	{"the last rule wins", "*.log\n!keep.log\n", "keep.log", false, false},
	{"and the one after it", "*.log\n!keep.log\nkeep.*\n", "keep.log", false, true},
	{"an ending after a name", "!keep.log\n*.log\n", "keep.log", false, true},
	{"a path after a star", "*\n!/a/keep\n", "a/keep", false, false},
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
	{"stars after a literal name", "/a**\n", "ab/x", false, true},
	{"star in a path stays in a name", "a/*.c\n", "a/b/x.c", false, false},
	{"leading stars, a name", "**/x\n", "x", false, true},
	{"leading stars, a path", "**/a/x\n", "b/a/x", false, true},
	{"leading stars need a name", "**//\n", "x", true, false},
	{"trailing stars", "a/**\n", "a/b/x", false, true},
	{"trailing stars, the directory itself", "a/**\n", "a", true, false},
	{"malformed set", "[x\n", "[x", false, false},
	{"very long line", strings.Repeat("x", 1<<16) + "\ny", "y", false, true},
	{"longer than little room", "/" + strings.Repeat("d/", 400) + "x?", strings.Repeat("d/", 400) + "xy", false, true},
	{"longer than a path", strings.Repeat("*/", 5000) + "x", strings.Repeat("d/", 5000) + "x", false, true},
}

// ask asks the rules about a path.
func ask(r *Rules, path string, dir bool) bool {
	cut := strings.LastIndexByte(path, '/') + 1
	return r.Ignores(path[:cut], path[cut:], dir)
}

func TestIgnores(t *testing.T) {
	for _, tc := range ruleCases {
		t.Run(tc.name, func(t *testing.T) {
			if got := ask((*Rules)(nil).AddGit("", []byte(tc.text)), tc.path, tc.dir); got != tc.want {
				t.Errorf(".gitignore: Ignores(%.40q) = %v", tc.path, got)
			}
			if got := ask((*Rules)(nil).AddPlain("", []byte(tc.text)), tc.path, tc.dir); got != tc.want {
				t.Errorf(".ignore: Ignores(%.40q) = %v", tc.path, got)
			}
			below := (*Rules)(nil).AddGit("", []byte("/no\n")).AddGit("in/here/", []byte(tc.text))
			if got := ask(below, "in/here/"+tc.path, tc.dir); got != tc.want {
				t.Errorf("below the top: Ignores(%.40q) = %v", tc.path, got)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	repo := Repository{Global: []byte("g\ngx\n!p\n"), Exclude: []byte("!g\ne\n!ex\n")}
	outer := (*Rules)(nil).AddPlain("", []byte("p\n!i\n")).AddGit("", []byte("outer\n")).Enter("r/", repo).
		AddGit("r/", []byte("!e\nt\ni\n"))
	inner := outer.AddGit("r/s/", []byte("!t\n/here\n"))
	tests := []struct {
		name, path string
		want       bool
	}{
		{"core.excludesFile", "r/gx", true},
		{"info/exclude over core.excludesFile", "r/g", false},
		{"the top's .gitignore over info/exclude", "r/e", false},
		{"the inner .gitignore over the outer", "r/s/t", false},
		{"the outer .gitignore where the inner is silent", "r/s/i/i", false},
		{".ignore over all", "r/s/p", true},
		{".ignore brings back", "r/s/i", false},
		{"rules above the repository end", "r/s/outer", false},
		{"anchored at its directory", "r/s/here", true},
		{"anchored elsewhere", "r/s/x/here", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			rules := outer
			if strings.HasPrefix(tc.path, "r/s/") {
				rules = inner
			}
			if got := ask(rules, tc.path, false); got != tc.want {
				t.Errorf("Ignores(%q) = %v", tc.path, got)
			}
		})
	}
}

func TestFold(t *testing.T) {
	text := []byte("Name\n*.Ext\n/Dir/Path\nG?ob\n[A]\n[B-C]\n\\D\n[[:upper:]]9\n*Z\nA/**/Q\n*.Mid.[a-z]\n")
	tests := []struct {
		path        string
		fold, exact bool
	}{
		{"nAME", true, false}, {"Name", true, true}, {"x.EXT", true, false}, {"dir/pATH", true, false},
		{"gLOB", true, false}, {"GLOB", true, false}, {"Glob", true, true}, {"xz", true, false},
		{"a", false, false}, {"A", false, true}, // git folds the name, but not what stands in a set
		{"b", true, false}, {"B", true, true}, {"D", false, true}, {"d", false, false}, {"u9", true, false},
		{"a/x/q", true, false}, {"É", false, false}, {"x.mid.c", true, false},
	}
	exact := (*Rules)(nil).AddGit("", text)
	fold := (*Rules)(nil).Enter("", Repository{Fold: true}).AddGit("", text)
	plain := (*Rules)(nil).Enter("", Repository{Fold: true}).AddPlain("", text)
	for _, tc := range tests {
		t.Run(tc.path, func(t *testing.T) {
			got := [3]bool{ask(fold, tc.path, false), ask(exact, tc.path, false), ask(plain, tc.path, false)}
			if want := [3]bool{tc.fold, tc.exact, tc.exact}; got != want {
				t.Errorf("fold, exact, .ignore: %v, want %v", got, want)
			}
		})
	}
}

// Directories without rules of their own share the rules of the one above.
func TestRulesAreShared(t *testing.T) {
	rules := (*Rules)(nil).AddGit("", []byte("x\n")).AddPlain("", []byte("y\n"))
	for _, text := range []string{"", "\n\n", "# only a comment\n", "/\n", "\x00x\n"} {
		if rules.AddGit("a/", []byte(text)) != rules || rules.AddPlain("a/", []byte(text)) != rules {
			t.Errorf("%q makes new rules", text)
		}
		if (*Rules)(nil).AddGit("", []byte(text)) != nil {
			t.Errorf("%q makes rules of none", text)
		}
	}
	if (*Rules)(nil).Enter("", Repository{}) != nil || (*Rules)(nil).Ignores("", "x", false) {
		t.Error("no rules are not nil, or ignore something")
	}
	if plain := (*Rules)(nil).AddPlain("", []byte("y\n")); plain.Enter("a/", Repository{}) != plain {
		t.Error("a repository without rules makes new ones")
	}
}

func TestIgnoresDoesNotAllocate(t *testing.T) {
	rules := (*Rules)(nil).AddPlain("", []byte("y\n")).Enter("", Repository{Fold: true}).AddGit("", []byte(bigProject))
	deep := strings.Repeat("Directory/", 300)
	for _, at := range []string{"", "Drivers/net/", deep} {
		if n := testing.AllocsPerRun(100, func() { rules.Ignores(at, "File.mod.C", false) }); n != 0 {
			t.Errorf("%d bytes of directory: %v allocations", len(at), n)
		}
	}
}

// Patterns that have to be tried one by one are bounded; those before the bound and the others still count.
func TestManyGlobs(t *testing.T) {
	var b strings.Builder
	b.WriteString("first?\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "*a?%d\nname%d\n", i, i)
	}
	rules := (*Rules)(nil).AddGit("", []byte(b.String()))
	for _, name := range []string{"first1", "name99999", "xab7"} {
		if !ask(rules, name, false) {
			t.Errorf("%s is not ignored", name)
		}
	}
	if ask(rules, "xab99999", false) {
		t.Error("a pattern beyond the bound counts")
	}
}

// Lines that invite quadratic work end: with it this test would not.
func TestHostileLines(t *testing.T) {
	for _, part := range []string{"[", "[[:", "[:", "[[:a:]", "[a]", "**/", "*a", "*?", "\\", " ", "\\ ", "/", "!", ".", "*.", "?\n",
		"a/*\n", "[a-", "**/*a"} {
		for _, end := range []string{"", "]", "b", "]]b"} {
			text := strings.Repeat(part, 1<<18/len(part)) + end
			rules := (*Rules)(nil).AddGit("", []byte(text)).AddPlain("", []byte("["+text))
			rules.Ignores(strings.Repeat("a/", 100), strings.Repeat("a", 200), true)
		}
	}
}

// No text panics, and a negated pattern after one that ignores everything decides as often as the pattern itself.
func FuzzRules(f *testing.F) {
	for _, tc := range ruleCases {
		if len(tc.text)+len(tc.path) < 100 {
			f.Add(tc.text, tc.path, tc.dir, false)
		}
	}
	f.Add("!x ", "x", false, true)
	f.Fuzz(func(t *testing.T, text, path string, dir, fold bool) {
		if len(text)+len(path) > 300 {
			return
		}
		start := (*Rules)(nil).Enter("", Repository{Fold: fold})
		ask(start.AddGit("", []byte(text)), path, dir) // whole files may be anything
		pattern := strings.NewReplacer("\n", "n", "\x00", "0").Replace(text)
		if pattern == "" || strings.ContainsAny(pattern[:1], "!#") || strings.HasPrefix(pattern, "\ufeff") {
			return
		}
		plain := ask(start.AddGit("", []byte(pattern)), path, dir)
		negated := ask(start.AddGit("", []byte("*\n!"+pattern)), path, dir)
		if plain == negated && !strings.HasSuffix(path, "/") && path != "" {
			t.Errorf("%q on %q: %v, negated %v", pattern, path, plain, negated)
		}
	})
}
