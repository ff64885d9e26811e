package engine

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// What is below a directory, and what is wanted, is found beside what was learned of the whole tree; searches that are
// cut at any place leave nothing wrong.
func TestCandidateCacheBesideParts(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d.txt", i%7, i)] = fmt.Sprintf("common text\nword number%dx\n", i)
	}
	p := plant(t, files)
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	for round := range 20 {
		if round%3 == 0 {
			p.write(t, fmt.Sprintf("d%d/f%d.txt", round%7, round), fmt.Sprintf("common new%d\n", round))
		}
		for _, a := range []ask{
			{Query: storing(t, "common"), below: "d3"},
			{Query: storing(t, fmt.Sprintf("new%d", round))},
			{Query: Query{Pattern: storing(t, "common").Pattern, Want: func(_, name string) bool { return name[1] == '1' }}},
			{Query: storing(t, fmt.Sprintf("new%d", round)), below: fmt.Sprintf("d%d", round%7)},
			{Query: storing(t, "nowhere")}, {Query: storing(t, "number1"), stop: 3},
		} {
			for n := range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n*round)*50*time.Microsecond)
				e.Grep(ctx, p.root(t), a.Query, func(Part) bool { return true })
				cancel()
				cold := New(Options{Index: Off})
				want, _ := p.answer(cold, a)
				cold.Close()
				if got, _ := p.answer(e, a); got != want {
					t.Fatalf("round %d, %+v: %s", round, a, firstDifference(got, want))
				}
			}
		}
		if round%2 == 0 {
			waitUntilOld(t)
			settle(t, e)
		}
	}
}

// Modes alternate.
func TestModesAlternate(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	modes := []Mode{Watched, Strict, Watched, Off, Watched, Auto, Watched}
	for round := range 42 {
		e.SetIndex(modes[round%len(modes)])
		p.write(t, "d/b.txt", fmt.Sprintf("new%d\n", round))
		if round%4 == 0 {
			os.Rename(p.at("d/e"), p.at("d/g"))
			os.Rename(p.at("d/g"), p.at("d/e"))
		}
		p.same(t, e, storing(t, fmt.Sprintf("new%d", round)))
		if round%3 == 0 {
			p.warm(t, e)
		}
		p.write(t, "a.txt", fmt.Sprintf("other%d\n", round))
		p.same(t, e, storing(t, fmt.Sprintf("other%d", round)))
		p.same(t, e, storing(t, "charlie"))
	}
}

// What is known of a tree does not grow with what happens in it.
func TestNothingGrows(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	pl := e.places[0]
	for i := range 60 {
		p.write(t, "x/y/z.txt", fmt.Sprint("text", i))
		p.same(t, e, storing(t, "text"))
		os.Rename(p.at("x"), p.at(fmt.Sprintf("w%d", i)))
		p.same(t, e, storing(t, "text"))
		os.RemoveAll(p.at(fmt.Sprintf("w%d", i)))
		p.same(t, e, storing(t, "text"))
	}
	settle(t, e)
	p.grep(t, e, storing(t, "text"))
	if n, m, l := len(pl.events.dirs), len(pl.events.ids), len(pl.events.left); n != len(pl.list.Dirs) || m != n || l != 0 {
		t.Errorf("%d, %d, %d are watched of %d directories", n, m, l, len(pl.list.Dirs))
	}
	if n := watches(t); n != len(pl.list.Dirs) {
		t.Errorf("%d are watched of %d directories", n, len(pl.list.Dirs))
	}
}
