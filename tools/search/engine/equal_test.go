package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/search/match"
)

// rounds returns how often a test goes around: as often as TOOLHOST_ROUNDS says, else a quarter as often as usual.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	text := os.Getenv("TOOLHOST_ROUNDS")
	if text == "" {
		return max(usual/4, 3)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("TOOLHOST_ROUNDS:", err)
	}
	return n
}

// ask is a search with its consumer.
type ask struct {
	Query
	expr  string
	below string // directory below the root
	stop  int    // files after which nobody wants more; 0: all are wanted
}

// asks returns a search of each kind.
func asks(t testing.TB, r *rand.Rand, e *editor) (out []ask) {
	t.Helper()
	below := strings.TrimPrefix(e.folder(), e.dir)
	for i, tc := range []struct {
		expr    string
		options match.Options
	}{
		{expr: e.word()},
		{expr: e.word(), options: match.Options{IgnoreCase: true}},
		{expr: e.word() + "|" + e.word() + "|nowhere"},
		{expr: `func_[a-z]+\(` + e.word()},
		{expr: e.word() + `é .\r?\nword`, options: match.Options{Multiline: true}},
		{expr: `^\w{6} \w{6}é .$`},
	} {
		a := ask{Query: Query{Pattern: pattern(t, tc.expr, tc.options), Store: r.IntN(4) > 0, Clip: r.IntN(2) == 0}, expr: tc.expr}
		if r.IntN(3) == 0 {
			a.Before, a.After = r.IntN(3), r.IntN(3)
		}
		if r.IntN(4) == 0 {
			a.Limit = 1 + r.IntN(4)
		}
		if r.IntN(4) == 0 {
			a.stop = 1 + r.IntN(6)
		}
		if i%2 == 0 && r.IntN(3) == 0 {
			a.below = below
		}
		out = append(out, a)
	}
	return out
}

// answer returns what e finds, as text; ok is false if there is no such directory.
func (p planted) answer(e *Engine, a ask) (text string, ok bool) {
	dir := filepath.Join(p.dir, a.below)
	d, err := p.ws.OpenDir(agenttool.Path{Resolved: dir, Root: p.dir})
	if err != nil {
		return "", false
	}
	var out transcript
	sum, err := e.Grep(context.Background(), Root{Dir: d, Path: dir, Top: p.dir}, a.Query, func(part Part) bool { return out.take(part, a.stop) })
	return out.end() + fmt.Sprintf("%+v %v", sum, err), true
}

// kept are the engines that live through all rounds.
func kept(t testing.TB) map[string]*Engine {
	t.Helper()
	small := keen(Watched)
	small.IndexBytes = 64 << 10
	return map[string]*Engine{
		"strict":        newEngine(t, keen(Strict)),
		"watched":       newEngine(t, keen(Watched)),
		"a small index": newEngine(t, small),
	}
}

// agree checks that every engine finds what one that knows nothing finds, all of them at once.
func agree(t *testing.T, p planted, engines map[string]*Engine, all []ask) {
	t.Helper()
	var group sync.WaitGroup
	defer group.Wait()
	for _, a := range all {
		fresh := New(Options{Index: Off})
		want, ok := p.answer(fresh, a)
		fresh.Close()
		if !ok {
			continue
		}
		for name, e := range engines {
			group.Go(func() {
				if got, _ := p.answer(e, a); got != want {
					t.Errorf("%s, %q %+v:\n%s", name, a.expr, a, firstDifference(got, want))
				}
			})
		}
	}
}

// firstDifference shows two texts where they begin to differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	around := func(lines []string) string {
		return fmt.Sprintf("%.600s", strings.Join(lines[max(0, min(i-2, len(lines))):], "\n"))
	}
	return fmt.Sprintf("got\n…%s\nwant\n…%s\nlast: got %s, want %s", around(g), around(w), g[len(g)-1], w[len(w)-1])
}

// Whatever changed between two calls, however, and by whom: an engine that knows the tree finds what one finds that does
// not, while it brings its index up to date beside.
func TestIndexEqualsCold(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			equalsCold(t, seed, rounds(t, 60)/3)
		})
	}
}

// More happens between two calls than the system keeps events of.
func TestOverflowEqualsCold(t *testing.T) {
	queue, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("the length of the queue is not known:", err)
	}
	length, err := strconv.Atoi(strings.TrimSpace(string(queue)))
	if err != nil || length > 1<<20 {
		t.Skipf("the queue is as long as %s: %v", queue, err)
	}
	p := plant(t, nil)
	editor := newEditor(t, 7, p.dir)
	r := rand.New(rand.NewPCG(7, 9))
	engines := kept(t)
	for range rounds(t, 9) / 3 {
		all := asks(t, r, editor)
		for range 2 {
			waitUntilOld(t)
			agree(t, p, engines, all[:2])
			for _, e := range engines {
				settle(t, e)
			}
		}
		p.write(t, "flood0", "flood\n")
		p.write(t, "flood1", "flood\n")
		for i := range length { // one after the other of the same file would be one event
			os.Chtimes(p.at(fmt.Sprintf("flood%d", i%2)), time.Time{}, time.Unix(int64(i), 0))
		}
		for range 10 {
			editor.edit()
		}
		agree(t, p, engines, asks(t, r, editor))
		if t.Failed() {
			t.FailNow()
		}
	}
}

func equalsCold(t *testing.T, seed uint64, rounds int) {
	p := plant(t, nil)
	editor := newEditor(t, seed, p.dir)
	r := rand.New(rand.NewPCG(seed, 9))
	engines := kept(t)
	for round := range rounds {
		if r.IntN(2) == 0 { // what just changed is looked at again anyway: have something that is relied on
			waitUntilOld(t)
			all := asks(t, r, editor)
			agree(t, p, engines, all[:2]) // is indexed then
			for _, e := range engines {
				settle(t, e)
			}
			agree(t, p, engines, all[:2])            // is relied on then
			agree(t, p, engines, asks(t, r, editor)) // and what that learned, if nothing came since
		}
		from := len(editor.done)
		for range 1 + r.IntN(1+r.IntN(12)) { // a single one must do, too
			editor.edit()
		}
		agree(t, p, engines, asks(t, r, editor))
		agree(t, p, engines, asks(t, r, editor))
		if t.Failed() {
			t.Fatalf("round %d, after\n%s", round, strings.Join(editor.done[from:], "\n"))
		}
		if r.IntN(3) == 0 {
			for _, e := range engines {
				settle(t, e)
			}
		}
	}
}
