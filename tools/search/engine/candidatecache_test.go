package engine

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// visited returns how many files a search visits that finds expr, by what an earlier one learned; -1: nothing that counts.
func (p planted) visited(t *testing.T, e *Engine, expr string) int {
	t.Helper()
	v, err := e.open(context.Background(), p.root(t))
	if err != nil {
		t.Fatal(err)
	}
	defer v.leave()
	q := storing(t, expr)
	g := &grep{view: v, query: &q}
	g.maybe, g.indexed = v.candidates(q.Pattern.Required())
	if g.plan(); !g.some {
		return -1
	}
	return g.length()
}

// Where nothing happens a search visits the files that may hold a match, those that cannot be relied on, and no other; and
// all of them after anything happened.
func TestCandidateCache(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d.txt", i%7, i)] = fmt.Sprintf("common text\nword number%dx\n", i)
	}
	p := plant(t, files)
	if err := os.Link(p.at("d0/f0.txt"), p.at("linked.txt")); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	const linked = 2
	for expr, want := range map[string]int{"number17x": 1 + linked, "nowhere": linked, "common": 301} {
		if got := p.visited(t, e, expr); got != want {
			t.Errorf("%s: %d files are visited, want %d", expr, got, want)
		}
		p.same(t, e, storing(t, expr))
		limited := storing(t, expr)
		limited.Limit = 1
		p.same(t, e, limited)
	}
	for name, change := range map[string]func() error{
		"write":  func() error { return os.WriteFile(p.at("d3/f3.txt"), []byte("nowhere no more\n"), 0o644) },
		"new":    func() error { return os.WriteFile(p.at("d3/new.txt"), []byte("nowhere\n"), 0o644) },
		"rename": func() error { return os.Rename(p.at("d4"), p.at("d9")) },
		"remove": func() error { return os.RemoveAll(p.at("d5")) },
		"rules":  func() error { return os.WriteFile(p.at(".gitignore"), []byte("f1*\n"), 0o644) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := p.visited(t, e, "nowhere"); got != -1 {
			t.Errorf("%s: %d files are visited as if nothing had happened", name, got)
		}
		p.same(t, e, storing(t, "nowhere"))
		p.warm(t, e)
		if got := p.visited(t, e, "nowhere"); got < linked || got > 6 {
			t.Errorf("%s: %d files are visited later", name, got)
		}
		p.same(t, e, storing(t, "number"))
	}
}

// A file that is found to have changed though no event told of it empties the cache.
func TestCandidateCacheEnds(t *testing.T) {
	p := plant(t, map[string]string{"a.txt": "alpha\n", "b.txt": "bravo\n", "c.txt": "charlie\n"})
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	v, err := e.open(context.Background(), p.root(t))
	if err != nil {
		t.Fatal(err)
	}
	v.leave()
	known := *v.Files[1].Known.Load()
	known.Stamp.Size++ // what is known of b.txt is not what it is
	v.Files[1].Known.Store(&known)
	if got := p.visited(t, e, "alpha"); got != 1 {
		t.Fatalf("%d files are visited", got)
	}
	p.same(t, e, storing(t, "bravo")) // finds out
	if got := p.visited(t, e, "alpha"); got != -1 {
		t.Errorf("%d files are visited as if all were known", got)
	}
	p.same(t, e, storing(t, "alpha"))
}
