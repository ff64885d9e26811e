package engine

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A tree with a file of the future is searched as others are.
func TestFileOfTheFuture(t *testing.T) {
	files := smallFiles()
	files["future.txt"] = strings.Repeat("some text of some length\n", 40_000)
	p := plant(t, files)
	must(t, os.Chtimes(p.at("future.txt"), time.Time{}, time.Now().Add(1000*time.Hour)))
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	before := e.places[0].index.Load().Len()
	for range 10 {
		p.grep(t, e, storing(t, "needle"))
		settle(t, e)
	}
	if after := e.places[0].index.Load().Len(); after != before {
		t.Errorf("%d chunks are indexed, %d before: nothing changed", after, before)
	}
	if n := p.visited(t, e, "alpha"); n != 2 {
		t.Errorf("%d files are visited", n)
	}
	p.same(t, e, storing(t, "text"))
}
