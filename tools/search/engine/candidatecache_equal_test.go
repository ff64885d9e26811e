package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/permissions/protect"
	"toolhost/tools/search/match"
)

// guarded returns what e finds with secrets, as text; and whether the search went by what an earlier one learned.
func (p planted) guarded(t testing.TB, e *Engine, a ask) (string, bool) {
	r := p.root(t)
	var out transcript
	v, err := e.open(context.Background(), r)
	if err != nil {
		return err.Error(), false
	}
	defer v.leave()
	g := &grep{view: v, query: &a.Query}
	if !a.Pattern.Multiline() {
		g.maybe, g.indexed = v.candidates(a.Pattern.Required())
	}
	g.plan()
	sum := v.summary()
	sum.add(g.run(context.Background(), func(part Part) bool { return out.take(part, a.stop) }))
	v.place.learn(g)
	return out.end() + fmt.Sprintf("%+v", sum), g.some
}

// Several searches one after the other and at once, between edits, with secrets that change: those that go by what an
// earlier one learned find the same.
func TestCandidateCacheEqualsCold(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); calmEqualsCold(t, seed+100, rounds(t, 24)/3) })
	}
}

func calmEqualsCold(t *testing.T, seed uint64, rounds int) {
	p := plant(t, nil)
	editor := newEditor(t, seed, p.dir)
	r := rand.New(rand.NewPCG(seed, 19))
	wide := keen(Watched)
	e := newEngine(t, wide)
	small := keen(Watched)
	small.IndexBytes = 40 << 10
	s := newEngine(t, small)
	var hits, all atomic.Int64
	var maps []*protect.Map
	for round := range rounds {
		if round%4 == 0 {
			maps = []*protect.Map{nil, p.denying(t, "**/none"), p.denying(t, "**/f1"), p.denying(t, "**/a.b", "**/*.go", "**/names"), p.denying(t, "**/f1")}
			maps = append(maps, maps[2].Granted(nil, []string{filepath.Join(p.dir, "a"), editor.file()}), p.denying(t, "**/.gitignore"))
		}
		m := maps[r.IntN(len(maps))]
		for turn := range 3 {
			if r.IntN(6) == 0 {
				m = maps[r.IntN(len(maps))]
			}
			p.ws.Guard(nil)
			if m != nil {
				p.guardBy(m)
			}
			if turn == 1 {
				waitUntilOld(t)
				settle(t, e)
			}
			asks := asks(t, r, editor)
			for range 2 {
				var group sync.WaitGroup
				for _, a := range asks {
					a.below = ""
					cold := New(Options{Index: Off})
					want, _ := p.guarded(t, cold, a)
					cold.Close()
					for range 2 {
						group.Go(func() {
							for _, e := range []*Engine{e, s} {
								got, cached := p.guarded(t, e, a)
								if got != want {
									t.Errorf("cached %v, %q %+v:\n%s", cached, a.expr, a, firstDifference(got, want))
								}
								if cached {
									hits.Add(1)
								}
								all.Add(1)
							}
						})
					}
					if r.IntN(3) == 0 {
						group.Wait()
					}
				}
				group.Wait()
			}
			if t.Failed() {
				t.Fatalf("round %d turn %d after\n%s", round, turn, strings.Join(editor.done[max(0, len(editor.done)-12):], "\n"))
			}
		}
		for range 1 + r.IntN(1+r.IntN(8)) {
			editor.edit()
		}
	}
	t.Logf("%d of %d searches used the cache", hits.Load(), all.Load())
}

// Numbers of files around those of a batch, of a word, and of several workers' batches.
func TestCandidateCacheOfAnyNumberOfFiles(t *testing.T) {
	p := plant(t, map[string]string{"d/": ""})
	e := newEngine(t, keen(Watched))
	have := 0
	for _, n := range []int{0, 1, 63, 64, 65, 128, 193, 640} {
		for ; have < n; have++ {
			p.write(t, fmt.Sprintf("d/%04d", have), fmt.Sprintf("common %04dx\n", have))
		}
		p.warm(t, e)
		for _, expr := range []string{"common", "nowhere", "0000x", "0063x", "0064x", fmt.Sprintf("%04dx", n-1), "0[01]6[34]x"} {
			for _, stop := range []int{0, 1, 2, 64, 65} {
				for _, denied := range []string{"", "**/0063", "**/006[0-9]", "**/d"} {
					p.ws.Guard(nil)
					if denied != "" {
						p.guardBy(p.denying(t, denied))
					}
					a := ask{Query: storing(t, expr), stop: stop}
					cold := New(Options{Index: Off})
					want, _ := p.guarded(t, cold, a)
					cold.Close()
					for range 2 {
						got, _ := p.guarded(t, e, a)
						if got != want {
							t.Fatalf("%d files, %s, stop %d, denied %q: %s", n, expr, stop, denied, firstDifference(got, want))
						}
					}
				}
			}
		}
		p.ws.Guard(nil)
		p.same(t, e, storing(t, "nowhere"))
		if v := p.visited(t, e, "nowhere"); v != 0 && n > 0 {
			t.Errorf("%d files: %d visited", n, v)
		}
	}
}

// Writers, searches that are cut at any time, and the background at once: what remains is right.
func TestCandidateCacheBesideWriters(t *testing.T) {
	p := plant(t, nil)
	editor := newEditor(t, 77, p.dir)
	e := newEngine(t, keen(Watched))
	for round := range rounds(t, 12) {
		stop := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					editor.edit()
					time.Sleep(2 * time.Millisecond)
				}
			}
		})
		for i := range 4 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), uint64(round)))
				for {
					select {
					case <-stop:
						return
					default:
					}
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(8000))*time.Microsecond)
					n := r.IntN(20)
					expr := fmt.Sprintf("word%c%c", 'a'+r.IntN(8), 'a'+r.IntN(8))
					e.Grep(ctx, p.root(t), Query{Pattern: pattern(t, expr, match.Options{}), Store: true}, func(Part) bool { n--; return n != 0 })
					cancel()
				}
			})
		}
		group.Go(func() {
			for i := range 6 {
				time.Sleep(30 * time.Millisecond)
				e.mu.Lock()
				places := append([]*place(nil), e.places...)
				e.mu.Unlock()
				for _, pl := range places {
					pl.due.Store(true)
					if i%2 == 0 {
						pl.prepare()
					}
				}
			}
			close(stop)
		})
		group.Wait()
		for range 3 {
			for _, expr := range []string{"wordaa", "wordbc", "WORDab|wordhh", "nowhere"} {
				p.same(t, e, storing(t, expr))
			}
			settle(t, e)
			waitUntilOld(t)
		}
		if t.Failed() {
			t.Fatal("round", round, strings.Join(editor.done[max(0, len(editor.done)-30):], "\n"))
		}
	}
}

// The index is renewed while searches go by what was learned with the old one.
func TestRenewedIndexEqualsCold(t *testing.T) {
	p := plant(t, smallFiles())
	for i := range 1500 {
		p.write(t, fmt.Sprintf("many/%d", i), fmt.Sprintf("word%dx\n", i))
	}
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	p.same(t, e, storing(t, "word77x"))
	number := e.places[0].index.Load().number
	os.RemoveAll(p.at("many"))
	p.write(t, "new", "new text\n")
	for range 10 {
		waitUntilOld(t)
		for _, expr := range []string{"word77x", "alpha", "bravo", "charlie", "new"} {
			p.same(t, e, storing(t, expr))
		}
	}
	settle(t, e)
	p.warm(t, e)
	if e.places[0].index.Load().number == number {
		t.Error("the index was not renewed")
	}
	if n := p.visited(t, e, "alpha"); n != 1 {
		t.Errorf("%d files are visited", n)
	}
	p.same(t, e, storing(t, "alpha"))
}

// An index that was renewed is not kept by what was learned with it.
func TestRenewedIndexIsForgotten(t *testing.T) {
	p := plant(t, smallFiles())
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	pl := e.places[0]
	if pl.cached == nil {
		t.Fatal("nothing was learned")
	}
	pl.index.Store(pl.renew(pl.index.Load()))
	p.grep(t, e, storing(t, ".")) // learns nothing itself
	if pl.cached != nil {
		t.Error("the old index is kept")
	}
	p.same(t, e, storing(t, "alpha"))
}

// What happens to names that are not listed ends nothing that was learned.
func TestCandidateCacheBesideALog(t *testing.T) {
	files := smallFiles()
	files[".ignore"] = "*.log\n"
	files["d/server.log"] = ""
	p := plant(t, files)
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	for i := range 5 {
		p.write(t, "d/server.log", fmt.Sprint("alpha", i))
		if got := p.visited(t, e, "alpha"); got != 1 {
			t.Fatalf("%d files are visited", got)
		}
		p.same(t, e, storing(t, "alpha"))
	}
	p.write(t, "d/b.txt", "alpha\n")
	if got := p.visited(t, e, "alpha"); got != -1 {
		t.Errorf("%d files are visited as if nothing had happened", got)
	}
	p.same(t, e, storing(t, "alpha"))
}
