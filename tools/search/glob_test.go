package search

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

func TestGlob(t *testing.T) {
	tr := plant(t, project)
	tests := []struct{ name, input, want string }{
		{"a name at any depth", `{"pattern":"*.ts"}`, "src-x/x.ts\nsrc/a.ts\n[left out 1 ignored (no_ignore), 2 hidden (hidden)]\n"},
		{"a path", `{"pattern":"src/*"}`, "src/a.ts\nsrc/z.md\n"},
		{"everything below", `{"pattern":"src/"}`, "src/a.ts\nsrc/deep/b.tsx\nsrc/z.md\n"},
		{"braces", `{"pattern":"src/**/*.{ts,tsx}"}`, "src/a.ts\nsrc/deep/b.tsx\n"},
		{"the root only", `{"pattern":"./*.go"}`, "main.go\nmain_test.go\n[left out 1 ignored (no_ignore), 2 hidden (hidden)]\n"},
		{"below a path", `{"pattern":"*.tsx","path":"src"}`, "src/deep/b.tsx\n"},
		{"hidden, by its name", `{"pattern":".hidden/**"}`, ".hidden/h.go\n"},
		{"hidden", `{"pattern":"h.*","hidden":true}`, ".hidden/h.go\n[left out 1 ignored (no_ignore)]\n"},
		{"no_ignore", `{"pattern":"*.log","no_ignore":true}`, "a.log\n[left out 2 hidden (hidden)]\n"},
		{"absolute", `{"pattern":"` + tr.dir + `/src/*.ts"}`, "src/a.ts\n"},
		{"limit", `{"pattern":"*","limit":1}`, "bin/image.png\n[showing 1 of at least 2 files; next offset 1; left out 1 ignored (no_ignore), 2 hidden (hidden)]\n"},
		{"nothing", `{"pattern":"*.rs","path":"src"}`, "No files match. Compared 3 names in src.\n"},
		{"nothing but ignored", `{"pattern":"a.log"}`, "No files match. Compared 8 names in the workspace.\n" +
			"[left out 1 ignored (no_ignore), 2 hidden (hidden)]\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got, _ := tr.glob(t, tc.input); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestGlobErrors(t *testing.T) {
	tr := plant(t, map[string]string{"a": ""})
	tests := []struct{ name, input, code string }{
		{"bad pattern", `{"pattern":"{a"}`, "bad_glob"},
		{"leaves the root", `{"pattern":"../*.go"}`, "bad_glob"},
		{"absolute below a path", `{"pattern":"/x/*","path":"a"}`, "bad_glob"},
		{"a file", `{"pattern":"*","path":"a"}`, "not_a_directory"},
		{"missing", `{"pattern":"*","path":"b"}`, "not_found"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if e := tr.fail(t, tr.newGlob(), tc.input); e.Code != tc.code || e.Class != agenttool.InvalidArguments {
				t.Errorf("%s %s: %s", e.Class, e.Code, e.Message)
			}
		})
	}
}

func TestGlobByModification(t *testing.T) {
	tr := plant(t, map[string]string{"old": "", "d/new": "", "same1": "", "same2": ""})
	for name, age := range map[string]time.Duration{"old": 3, "d/new": 1, "same1": 2, "same2": 2} {
		at := time.Unix(1_700_000_000, 0).Add(-age * time.Hour)
		if err := os.Chtimes(filepath.Join(tr.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	_, got := tr.glob(t, `{"pattern":"*","sort":"modified"}`)
	if want := []string{"d/new", "same1", "same2", "old"}; !slices.Equal(got.Paths, want) || got.LowerBound {
		t.Errorf("got %q, want %q", got.Paths, want)
	}
	_, got = tr.glob(t, `{"pattern":"*","sort":"modified","limit":2,"offset":1}`)
	if want := []string{"same1", "same2"}; !slices.Equal(got.Paths, want) || got.Total != 4 || *got.NextOffset != 3 {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestGlobPagesAreTheWhole(t *testing.T) {
	tr := plant(t, project)
	for _, order := range []string{byPath, byModified} {
		input := map[string]any{"pattern": "**", "hidden": true, "no_ignore": true, "sort": order}
		_, whole := tr.glob(t, input)
		if len(whole.Paths) != len(project) {
			t.Fatalf("%d of %d files", len(whole.Paths), len(project))
		}
		var got []string
		input["limit"] = 3
		for next := new(int); next != nil; {
			input["offset"] = *next
			_, page := tr.glob(t, input)
			got = append(got, page.Paths...)
			next = page.NextOffset
		}
		if !slices.Equal(got, whole.Paths) {
			t.Errorf("%s: pages %q, whole %q", order, got, whole.Paths)
		}
	}
}

func TestGlobTimeLimit(t *testing.T) {
	tr := plant(t, project)
	tool := tr.newGlob().(globTool)
	tool.limits.search = 0
	out := tr.must(t, tool, `{"pattern":"*"}`)
	if got := out.Structured.(globResult); !got.TimedOut || !got.LowerBound {
		t.Errorf("%+v", got)
	}
}

// A hostile glob must not cost exponential time.
func TestGlobIsPolynomial(t *testing.T) {
	name := strings.Repeat("a/", 100) + strings.Repeat("a", 200)
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat("*{a}", 100) + "b",
		"**/" + strings.Repeat("*{a,aa}", 7) + "/" + strings.Repeat("**/{a}", 50) + "/b",
		strings.Repeat("**/*a*a/", 50) + "b",
	} {
		g, err := parseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.match(path.Split(name)) {
			t.Errorf("%.20q… matches", pattern)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// FuzzGlob: a pattern that is accepted never panics and agrees with doublestar, but for names with brackets or braces in them.
func FuzzGlob(f *testing.F) {
	f.Add("a/**/b*/[!c].go", "a/x/bc/d.go")
	f.Add("**/*_test.go", "a/b/c_test.go")
	f.Add("a/{a,b{c,d}}/*.{ts,tsx}", "a/bc/x.ts")
	f.Add(`a/{\},[,],{}}`, "a/}")
	f.Add("a/*\xfd", "a/\xe1\xe1")
	f.Add("a/*\uFFFD.go", "a/b\xff.go")
	// Braces are expanded first, as in bash: stars of two parts may meet then, and a brace within [ ] is one. doublestar keeps them apart.
	joined := regexp.MustCompile(`\*[{},]|[{},]\*|\[[^]]*[{}]|/$`)
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g, err := parseGlob(pattern)
		if err != nil || len(pattern)+len(name) > 200 || name != filepath.Clean(name) || name[0] == '/' || name[0] == '.' {
			return
		}
		got := g.match(path.Split(name))
		if strings.HasPrefix(pattern, "a/") && strings.Count(pattern, "{") < 4 && !joined.MatchString(pattern) {
			want := doublestar.MatchUnvalidated(pattern, name)
			if itself := strings.ContainsAny(pattern, "[{") && strings.ContainsAny(name, "[]{}"); got != want && !(got && itself) {
				t.Errorf("%q on %q: %v, doublestar %v", pattern, name, got, want)
			}
		}
	})
}

// TestGlobNamesThatAreNotUTF8: a name is found by the pattern that it is shown as.
func TestGlobNamesThatAreNotUTF8(t *testing.T) {
	for _, pattern := range []string{"*\uFFFD.go", "b\uFFFD.go", "?\uFFFD.*", "*.go"} {
		g, err := parseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if !g.match("", "b\xff.go") || g.match("", "bx.c") {
			t.Errorf("%q does not match its name", pattern)
		}
	}
}

func TestTypes(t *testing.T) {
	for name, patterns := range fileTypes() {
		if len(patterns) == 0 || strings.ToLower(name) != name {
			t.Errorf("type %q: %q", name, patterns)
		}
		for _, p := range patterns {
			if _, err := filepath.Match(p, "x"); err != nil {
				t.Errorf("type %q: %q: %v", name, p, err)
			}
		}
	}
	for name, want := range map[string]string{"golng": "golang", "javascrpt": "javascript", "yamll": "yaml"} {
		if got := unknownType(name).Error(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTypesAsModelsWriteThem: a type is a language, by ripgrep's name or a usual one, or a file extension.
func TestTypesAsModelsWriteThem(t *testing.T) {
	for _, tc := range []struct{ name, matches, not string }{
		{"tsx", "a.tsx", "a.ts"}, {"jsx", "a.jsx", "a.js"}, {"ts", "a.tsx", "a.js"}, {"typescript", "a.ts", "a.js"}, {"javascript", "a.mjs", "a.ts"},
		{"py", "a.py", "a.go"}, {"python", "a.pyi", "a.go"}, {"golang", "a.go", "a.py"}, {"Go", "a.go", "a.py"}, {".go", "a.go", "a.py"}, {"*.go", "a.go", "a.py"},
		{"yml", "a.yml", "a.yaml"}, {"yaml", "a.yml", "a.json"}, {"rs", "a.rs", "a.rb"}, {"rust", "a.rs", "a.rb"}, {"rb", "a.rb", "Gemfile"}, {"ruby", "Gemfile", "a.rs"},
		{"bash", "a.sh", "a.py"}, {"c++", "a.hpp", "a.py"}, {"c#", "a.cs", "a.c"}, {"kt", "a.kt", "a.kts"}, {"md", "a.md", "a.txt"}, {"dockerfile", "Dockerfile", "a.md"},
		{"vue", "a.vue", "a.js"}, {"svelte", "a.svelte", "a.js"}, {"tf", "a.tf", "a.md"}, {"toml", "a.toml", "a.md"}, {"scss", "a.scss", "a.css"}, {"zig", "a.zig", "a.md"},
	} {
		shapes, err := typeShapes(tc.name)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		has := func(file string) bool {
			return slices.ContainsFunc(shapes, func(s shape) bool { return s.match("", file) })
		}
		if !has(tc.matches) || has(tc.not) {
			t.Errorf("%s: %s is %v, %s is %v", tc.name, tc.matches, has(tc.matches), tc.not, has(tc.not))
		}
	}
}
