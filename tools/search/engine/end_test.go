package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/tools/search/match"
)

// several plants many files in some directories, with a word in each.
func several(t testing.TB, files int) planted {
	t.Helper()
	names := map[string]string{}
	for i := range files {
		names[fmt.Sprintf("d%d/e%d/f%d", i%7, i%5, i)] = strings.Repeat(fmt.Sprintf("needle %d\nother line\n", i), 1+i%50)
	}
	return plant(t, names)
}

// openFiles returns how many files this process has open.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the open files are not listed here:", err)
	}
	return len(entries)
}

// nothingLeft runs test and checks that no goroutine and no open file is left of it.
func nothingLeft(t *testing.T, test func()) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	test()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= goroutines { // one that said that it is done may still be ending
			break
		}
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d open files, %d before", n, files)
	}
}

// chop cuts a context short, or a consumer, at any moment.
func chop(t testing.TB, p planted, e *Engine, r *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	parts, after := 0, r.IntN(400)
	switch r.IntN(3) {
	case 0:
		timer := time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
		defer timer.Stop()
	case 1:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
		defer cancel()
	}
	stopped := false
	q := Query{Pattern: pattern(t, "needle|other", match.Options{}), Store: r.IntN(2) == 0, Before: r.IntN(2)}
	sum, err := e.Grep(ctx, p.root(t), q, func(part Part) bool {
		if stopped {
			t.Error("a part came after the last one")
		}
		if parts++; r.IntN(100) == 0 {
			cancel()
		}
		stopped = parts > after
		return !stopped
	})
	if err != nil || sum.Searched > 600 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// However a search ends, nothing of it goes on, and the next one finds everything.
func TestSearchesCutShort(t *testing.T) {
	p := several(t, 300)
	for name, mode := range map[string]Mode{"off": Off, "strict": Strict, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t, func() {
				e := New(keen(mode))
				defer e.Close()
				var group sync.WaitGroup
				for seed := range uint64(4) {
					group.Go(func() {
						r := rand.New(rand.NewPCG(seed, 3))
						for range rounds(t, 8) {
							chop(t, p, e, r)
						}
					})
				}
				group.Wait()
				p.same(t, e, storing(t, "needle 1"))
				settle(t, e)
				p.same(t, e, storing(t, "needle 2"))
			})
		})
	}
}

// An engine that is closed while it searches ends its searches well, and has no others.
func TestCloseDuringSearches(t *testing.T) {
	p := several(t, 300)
	want := p.cold(t, storing(t, "needle"))
	nothingLeft(t, func() {
		for range rounds(t, 10) {
			e := New(keen(Watched))
			var group sync.WaitGroup
			begun := make(chan struct{}, 4)
			for range 4 {
				group.Go(func() {
					for {
						var out transcript
						first := true
						sum, err := e.Grep(context.Background(), p.root(t), storing(t, "needle"), func(part Part) bool {
							if first {
								select {
								case begun <- struct{}{}:
								default:
								}
							}
							first = false
							return out.take(part, 0)
						})
						if err != nil {
							return
						}
						if out.end()+fmt.Sprintf("%+v", sum) != want {
							t.Error("a search that ran during Close found something else")
						}
					}
				})
			}
			<-begun
			e.Close()
			group.Wait()
			e.Close()
			if _, err := e.Grep(context.Background(), p.root(t), storing(t, "x"), func(Part) bool { return true }); err == nil {
				t.Error("a closed engine searches")
			}
		}
	})
}

// Many more trees than are kept cost nothing when they are left.
func TestManyPlaces(t *testing.T) {
	names := map[string]string{}
	for i := range 300 {
		names[fmt.Sprintf("p%d/d/f", i)] = "needle\n"
	}
	outer := plant(t, names)
	nothingLeft(t, func() {
		e := New(keen(Watched))
		defer e.Close()
		before := openFiles(t)
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := worker; i < rounds(t, 300); i += 4 {
					p := planted{dir: outer.at(fmt.Sprintf("p%d", i%300)), ws: outer.ws}
					found := 0
					_, err := e.Grep(context.Background(), p.root(t), storing(t, "needle"), func(Part) bool { found++; return true })
					if err != nil || found != 1 {
						t.Errorf("%s: %d found, %v", p.dir, found, err)
					}
				}
			})
		}
		group.Wait()
		settle(t, e)
		if n := len(e.places); n > maxPlaces {
			t.Errorf("%d places are kept", n)
		}
		if n := openFiles(t); n > before+2*maxPlaces {
			t.Errorf("%d open files, %d before", n, before)
		}
	})
}
