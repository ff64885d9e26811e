package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestRefineGlobs: what patterns match is read by name; what is too much, or may be an option, leaves the paths unknown.
func TestRefineGlobs(t *testing.T) {
	b := newBench(t, Options{})
	outside := t.TempDir()
	for _, name := range []string{"a.md", "b.md", ".env", ".hidden.md", "src/a.go", "src/b.go", "src/deep/c.go", "odd/-R", "odd/x", "star/a*b", "star/axb"} {
		writeFile(t, filepath.Join(b.dir, name))
	}
	for i := range maxMatches + 1 {
		writeFile(t, filepath.Join(b.dir, "many", fmt.Sprint(i)))
	}
	for name, target := range map[string]string{"out.lnk": outside, "in.lnk": "src", "src/d.go": "a.go", "src/e.txt": outside, "src/none.c": outside + "/none"} {
		if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"cat *.md":                         "a.md b.md",
		"cat .*":                           ".env .hidden.md",
		"cat src/*.go":                     "src/a.go src/b.go src/d.go",
		"cat src/*":                        "src/a.go src/b.go src/d.go src/deep src/e.txt src/none.c",
		"cat */c.go":                       "unknown", // what lies outside is not looked at
		"cat */a.go":                       "unknown",
		"cat i*/a.go":                      "in.lnk in.lnk/a.go",
		"cat ../*":                         "unknown",
		"cat src/../*.md":                  "a.md b.md",
		"cat none*":                        "",
		`cat star/a\**`:                    "star/a*b",
		"cat odd/*":                        "unknown",
		"cat many/*":                       "unknown",
		"cat many/1*":                      "many…",
		`for f in *.md; do cat "$f"; done`: "a.md b.md",
		`find src -name '*.go' -exec grep -l x {} +`: "src",
		`find src -exec grep -l x {} \;`:             "src src/e.txt src/none.c",
		`find . -name '*.lnk' -exec cat {} +`:        ". out.lnk",
	} {
		if got := refinedReads(t, b, command); got != want && !(want == "many…" && strings.HasPrefix(got, "many/1 many/10")) {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// refinedReads returns what refining a command adds to what it reads, in order and below the workspace, or unknown.
func refinedReads(t *testing.T, b *bench, command string) string {
	t.Helper()
	c := b.bind(t, map[string]any{"command": command})
	before := len(c.Facts().Reads)
	paths := c.(agenttool.Refiner).Refine(t.Context())
	f := c.Facts()
	if f.PathsComplete != agenttool.Yes {
		return f.PathsComplete.String()
	}
	if len(paths) != len(f.Reads)-before {
		t.Errorf("%q: %d paths to locate, %d reads are new", command, len(paths), len(f.Reads)-before)
	}
	var names []string
	for _, p := range f.Reads[before:] {
		name, _ := filepath.Rel(b.dir, p.Absolute)
		names = append(names, name)
	}
	slices.Sort(names)
	for i := range f.Parts {
		if f.Parts[i].PathsComplete != agenttool.Yes {
			t.Errorf("%q: part %d is not complete", command, i)
		}
	}
	return strings.Join(names, " ")
}

// TestRefineManyNames: a directory with more names than are looked at leaves the paths unknown.
func TestRefineManyNames(t *testing.T) {
	b := newBench(t, Options{})
	for i := range maxEntries + 1 {
		writeFile(t, filepath.Join(b.dir, "many", fmt.Sprint(i)))
	}
	for _, command := range []string{"cat many/x*", "find . -name x -exec cat {} +"} {
		if got := refinedReads(t, b, command); got != "unknown" {
			t.Errorf("%q: %q, want unknown", command, got)
		}
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte("x\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
