package engine

import (
	"context"
	"testing"
)

// A panic in one of the goroutines of a search is one of its caller.
func TestPanicIsTheCallers(t *testing.T) {
	p := several(t, 4*batchFiles)
	e := New(Options{})
	defer e.Close()
	q := storing(t, "needle")
	q.Want = func(_, name string) bool { panic("this filter is broken") }
	defer func() {
		if recover() != "this filter is broken" {
			t.Error("the other workers were not stopped")
		}
		p.same(t, e, storing(t, "needle")) // and the engine goes on
	}()
	_, _ = e.Grep(context.Background(), p.root(t), q, func(Part) bool { return true })
}
