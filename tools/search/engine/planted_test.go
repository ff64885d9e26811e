package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/tools/racy"
	"toolhost/tools/search/match"
	"toolhost/tools/workspace"
)

// planted is a directory with files for a test.
type planted struct {
	dir string
	ws  *workspace.Workspace
}

// plant makes files in a new directory. A name that ends in a slash is a directory.
func plant(t testing.TB, files map[string]string) planted {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := planted{dir: dir}
	for name, text := range files {
		p.write(t, name, text)
	}
	return p.open(t)
}

// open opens the directory for searches.
func (p planted) open(t testing.TB) planted {
	t.Helper()
	ws, err := workspace.Open([]string{p.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	p.ws = ws
	return p
}

// at returns the path of a name.
func (p planted) at(name string) string { return filepath.Join(p.dir, name) }

// write writes a file in place, and makes what is missing above it.
func (p planted) write(t testing.TB, name, text string) {
	t.Helper()
	parent := filepath.Dir(p.at(name))
	if strings.HasSuffix(name, "/") {
		parent = p.at(name)
	}
	err := os.MkdirAll(parent, 0o755)
	if err == nil && parent != p.at(name) {
		err = os.WriteFile(p.at(name), []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// engine returns an engine that lasts as long as the test.
func newEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	e := New(o)
	t.Cleanup(e.Close)
	return e
}

// keen are the options of an engine that indexes every tree.
func keen(mode Mode) Options { return Options{Index: mode, IndexFrom: 1} }

func pattern(t testing.TB, expr string, o match.Options) *match.Pattern {
	t.Helper()
	p, err := match.Compile(expr, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// storing returns a query for all matching lines.
func storing(t testing.TB, expr string) Query {
	t.Helper()
	return Query{Pattern: pattern(t, expr, match.Options{}), Store: true}
}

// root returns the place to search.
func (p planted) root(t testing.TB) Root {
	t.Helper()
	r := root(t, p.ws, p.dir)
	secrets, err := p.ws.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	r.Secrets = secrets
	return r
}

// grep returns all that a search finds, as text: lines as grep shows them, counts, and the summary.
func (p planted) grep(t testing.TB, e *Engine, q Query) string {
	t.Helper()
	var out transcript
	sum, err := e.Grep(context.Background(), p.root(t), q, func(part Part) bool { return out.take(part, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return out.end() + fmt.Sprintf("%+v", sum)
}

// transcript is what a search finds, as text. In how many parts a file comes depends on what else was found, and does not show.
type transcript struct {
	text, lines  strings.Builder
	path         string // of the present file
	count, files int
}

// take takes a part, unless it is of one file more than most; 0: all are taken.
func (s *transcript) take(p Part, most int) bool {
	if s.files == 0 || p.Path != s.path {
		if most > 0 && s.files == most {
			return false
		}
		s.end()
		s.path = p.Path
		s.files++
	}
	s.count += p.Count
	showLines(&s.lines, p.Lines)
	return true
}

// end returns all that was taken.
func (s *transcript) end() string {
	if s.files > 0 {
		fmt.Fprintf(&s.text, "%s (%d)\n%s", s.path, s.count, s.lines.String())
		s.count = 0
		s.lines.Reset()
	}
	return s.text.String()
}

func showLines(out *strings.Builder, lines []Line) {
	for _, l := range lines {
		mark := ":"
		if l.Column == 0 {
			mark = "-"
		}
		fmt.Fprintf(out, "%d%s%s %d%v\n", l.Number, mark, l.Text, l.Column, l.Spans)
	}
}

// cold returns what an engine that knows nothing finds.
func (p planted) cold(t testing.TB, q Query) string {
	t.Helper()
	e := New(Options{Index: Off})
	defer e.Close()
	return p.grep(t, e, q)
}

func settle(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// warm searches until e has indexed what is old enough, and is sure of it.
func (p planted) warm(t testing.TB, e *Engine) {
	t.Helper()
	waitUntilOld(t)
	for range 4 {
		p.grep(t, e, storing(t, "no such text"))
		settle(t, e)
	}
}

// same reports an error unless e finds what a cold search finds.
func (p planted) same(t testing.TB, e *Engine, q Query) {
	t.Helper()
	if got, want := p.grep(t, e, q), p.cold(t, q); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// waitUntilOld returns when what was changed before the call is older than racy.Window: the one thing that tests must wait
// for, since the status of a younger file says nothing.
func waitUntilOld(t testing.TB) {
	t.Helper()
	<-time.After(racy.Window + 5*time.Millisecond)
}

// smallFiles are the files of most tests here.
func smallFiles() map[string]string {
	return map[string]string{"a.txt": "alpha\n", "d/b.txt": "bravo\n", "d/e/c.txt": "charlie\n"}
}

// both runs a test with an engine of each mode that relies on what it knows, and knows the tree.
func both(t *testing.T, test func(t *testing.T, p planted, e *Engine)) {
	for name, mode := range map[string]Mode{"strict": Strict, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			p := plant(t, smallFiles())
			e := newEngine(t, keen(mode))
			p.warm(t, e)
			test(t, p, e)
		})
	}
}
