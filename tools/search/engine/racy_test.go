package engine

import (
	"strings"
	"testing"
	"time"

	"toolhost/tools/racy"
	"toolhost/tools/search/tree"
)

// fileOf returns the file of a name in the only tree of e.
func fileOf(t testing.TB, e *Engine, name string) *tree.File {
	t.Helper()
	for _, f := range e.places[0].list.Files {
		if f.Path() == name {
			return f
		}
	}
	t.Fatal("no file", name)
	return nil
}

// What is known of a file that was changed just before counts for nothing: another change may have left its status as it
// is. Clocks of today's kernels hardly let that happen, so that it is the note of it that is made here.
func TestRacyFileIsSearched(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		f := fileOf(t, e, "a.txt")
		known := *f.Known.Load()
		known.Chunks = nil // as if it had held nothing
		f.Known.Store(&known)
		if got := p.grep(t, e, storing(t, "alpha")); strings.Contains(got, "a.txt") {
			t.Fatal("what is known of a file does not count at all")
		}
		racy := known
		racy.Racy = true
		f.Known.Store(&racy)
		p.same(t, e, storing(t, "alpha"))
		waitUntilOld(t)
		settle(t, e)
		if again := f.Known.Load(); again == nil || again.Racy || len(again.Chunks) != 1 {
			t.Errorf("not indexed again: %+v", again)
		}
	})
}

// A file is racy when it is indexed right after a change, and is not when it is old.
func TestRacyIsNoted(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Strict))
	p.warm(t, e)
	place := e.places[0]
	b := &builder{place: place, generation: place.index.Load(), dirs: dirs{tree: place.tree}, window: window{large: e.large},
		guard: (&view{place: place}).guard()}
	defer b.dirs.closeAll()
	f := fileOf(t, e, "a.txt")
	if f.Known.Load().Racy {
		t.Error("an old file is racy")
	}
	for {
		before := time.Now()
		p.write(t, "a.txt", "needle\n")
		b.file(f)
		if time.Since(before) < racy.Window/2 { // else the machine was too slow to say
			break
		}
	}
	if !f.Known.Load().Racy {
		t.Error("a file that just changed is not racy")
	}
}
