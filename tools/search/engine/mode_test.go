package engine

import (
	"context"
	"testing"
)

// A mode that is set counts from the next search on: what was known before neither helps nor misleads.
func TestSetIndex(t *testing.T) {
	p := several(t, 100)
	e := newEngine(t, keen(Strict))
	for _, mode := range []Mode{Watched, Off, Strict, Watched, Auto} {
		e.SetIndex(mode)
		p.warm(t, e)
		p.same(t, e, storing(t, "needle"))
		v, err := e.open(context.Background(), p.root(t))
		if err != nil {
			t.Fatal(err)
		}
		if (v.index == nil) != (mode == Off) || v.watched && mode != Watched {
			t.Errorf("mode %d: an index: %t, watched: %t", mode, v.index != nil, v.watched)
		}
		v.leave()
	}
	if _, err := ParseMode("sometimes"); err == nil {
		t.Error("any word is a mode")
	}
}
