package engine

import (
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

// A file that just changed is not indexed: another change may leave its status as it is. It is when it is old.
func TestRacyIsNotIndexed(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Strict))
	p.warm(t, e)
	place := e.places[0]
	b := &builder{place: place, generation: place.index.Load(), dirs: dirs{tree: place.tree}, window: window{share: share{large: e.large}},
		guard: (&view{place: place}).guard()}
	defer b.dirs.closeAll()
	f := fileOf(t, e, "a.txt")
	if f.Known.Load() == nil {
		t.Error("an old file is not indexed")
	}
	for {
		before := time.Now()
		p.write(t, "a.txt", "needle\n")
		f.Known.Store(nil)
		b.file(f)
		if time.Since(before) < racy.Window/2 { // else the machine was too slow to say
			break
		}
	}
	if f.Known.Load() != nil {
		t.Error("a file that just changed is indexed")
	}
	p.warm(t, e)
	if f.Known.Load() == nil {
		t.Error("it is not indexed later")
	}
}
