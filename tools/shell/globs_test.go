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

// TestLoopsAsModelsWriteThem: a variable without quotes is one name if the names on disk are such. If they are not, the reason says what to
// write.
func TestLoopsAsModelsWriteThem(t *testing.T) {
	b := newBench(t, Options{})
	for _, name := range []string{"a.txt", "b.txt", "p.json", "sub/c.txt", "blank/a b.txt", "blank/ok.txt", "dash/-R.txt", "dash/ok.txt", "star/a*b.txt", "star/axb.txt",
		"bracket/[ab].txt", "tab/a\tb.txt", "mark/a?.txt", "back/a\\b.txt", "line/a\nb.txt"} {
		writeFile(t, filepath.Join(b.dir, name))
	}
	for command, want := range map[string]bool{
		"for f in *.txt; do wc -l $f; done":                         true,
		"for d in */; do ls $d; done":                               true,
		"for f in $(ls *.json); do head -5 $f; done":                true,
		"grep -l x *.txt | while read f; do wc -l $f; done":         true,
		"grep -rl x sub | while read f; do wc -l $f; done":          true,
		"find sub -name '*.txt' | while read -r f; do cat $f; done": true,
		"for f in *.txt; do test -f $f && head -1 $f; done":         true,
		"for f in *.txt; do [ -s $f ] && wc -l < $f; done":          true,
		"for f in *.txt; do n=$(wc -l < $f); echo $f $n; done":      true,
		"cd sub && for f in *.txt; do cat $f; done":                 true,
		"for f in sub/*.txt *.json; do cat $f; done":                true,
		"for f in *.none; do cat $f; done":                          true,
		"for f in ${x}*.txt; do cat $f; done":                       false,
		"for f in 'no such '*; do cat $f; done":                     false, // it stands for itself, and then for every name
		"for f in *.txt; do cat $f$x; done":                         false,
		"for f in *.txt; do for g in $f; do cat $g; done; done":     false,
		"for f in *.txt; do cd sub; cat $f; done":                   false,
		"for f in *.txt; do rm $f; done":                            false,
		"IFS=x; for f in *.txt; do cat $f; done":                    false,
		"for f in *.txt; do IFS=. ; cat $f; done":                   false,
		"for f in *.txt; do set -- $f; cat $1; done":                false,
	} {
		c := b.bind(t, map[string]any{"command": command})
		c.(agenttool.Refiner).Refine(t.Context())
		f := c.Facts()
		if got := f.ReadOnly == agenttool.Yes && f.PathsComplete == agenttool.Yes; got != want {
			t.Errorf("%q is known to only read: %v, want %v: %v", command, got, want, f.Reasons)
		}
	}
	for _, dir := range []string{"blank", "dash", "star", "bracket", "tab", "mark", "back", "line"} {
		for _, command := range []string{
			"for f in DIR/*.txt; do wc -l $f; done", "cd DIR && for f in *; do cat $f; done", "cd DIR && for f in $(ls *.txt); do head $f; done",
			"find DIR -type f | while read f; do wc -l $f; done", "cd DIR && grep -rl x . | while read -r f; do cat $f; done", "for f in DIR/*.txt; do wc -l < $f; done",
		} {
			if dir == "dash" && (!strings.Contains(command, "cd") || strings.Contains(command, "-rl")) {
				continue // dash/-R.txt and ./-R.txt are no options
			}
			command = strings.ReplaceAll(command, "DIR", dir)
			c := b.bind(t, map[string]any{"command": command})
			c.(agenttool.Refiner).Refine(t.Context())
			f := c.Facts()
			said := slices.ContainsFunc(f.Parts, func(p agenttool.Part) bool {
				return slices.ContainsFunc(p.Reasons, func(r agenttool.Reason) bool { return strings.HasSuffix(r.Text, "write `\"$f\"`") })
			}) || slices.ContainsFunc(f.Reasons, func(r agenttool.Reason) bool { return strings.HasSuffix(r.Text, "write `\"$f\"`") })
			if f.ReadOnly == agenttool.Yes && f.PathsComplete == agenttool.Yes || !said {
				t.Errorf("%q: read_only %v, paths_complete %v, says what to write: %v: %v", command, f.ReadOnly, f.PathsComplete, said, f.Reasons)
			}
		}
	}
}
