package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A search for what is rare allocates for the list and for its buffers, and nothing for each byte or file. How much text
// is searched TOOLHOST_MIB says, 64 MiB without it; files have a MiB each.
func TestSearchAllocatesLittle(t *testing.T) {
	count := 64
	if testing.Short() {
		count = 16
	}
	if text := os.Getenv("TOOLHOST_MIB"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal("TOOLHOST_MIB:", err)
		}
	}
	p := plant(t, nil)
	text := string(bytes.Repeat([]byte("a line of text that holds nothing rare, of some length\n"), 1<<20/55))
	for i := range count {
		p.write(t, fmt.Sprintf("d%d/f%d", i%10, i), text)
	}
	p.write(t, "d5/z", text+"rare_needle\n")
	for name, mode := range map[string]Mode{"cold": Off, "strict": Strict, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, keen(mode))
			for pass := range 3 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				found := 0
				sum, err := e.Grep(context.Background(), p.root(t), storing(t, "rare_needle"), func(part Part) bool { found += part.Count; return true })
				runtime.ReadMemStats(&after)
				if err != nil || found != 1 || sum.Searched != count+1 {
					t.Fatalf("%d found, %+v, %v", found, sum, err)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
					t.Errorf("pass %d: %d bytes allocated", pass, n)
				}
				settle(t, e)
			}
		})
	}
}

// To index much text takes no more memory than the index itself and one buffer.
func TestIndexKeepsItsCap(t *testing.T) {
	p := plant(t, nil)
	for i := range 200 {
		p.write(t, fmt.Sprintf("f%d", i), string(bytes.Repeat(fmt.Appendf(nil, "some words of file %d, and %d others\n", i, i*i), 2000)))
	}
	o := keen(Strict)
	o.IndexBytes = 256 << 10
	e := newEngine(t, o)
	p.warm(t, e)
	g := e.places[0].index.Load()
	if g.Bytes() > o.IndexBytes || !g.full.Load() {
		t.Errorf("%d bytes, full %v", g.Bytes(), g.full.Load())
	}
	p.same(t, e, storing(t, "file 7,"))
	p.same(t, e, storing(t, "file 199,"))
}

// A file of 10 GB that takes no room costs neither time nor memory, whether it is searched or indexed.
func TestSparseFile(t *testing.T) {
	p := plant(t, map[string]string{"a": "needle\n", "z": "needle\n"})
	p.write(t, "zeros", "")
	p.write(t, "text", "needle\n"+string(bytes.Repeat([]byte("line\n"), headSize)))
	for _, name := range []string{"zeros", "text"} {
		if err := os.Truncate(p.at(name), 10<<30); err != nil {
			t.Skip("no sparse file can be made:", err)
		}
	}
	for name, mode := range map[string]Mode{"cold": Off, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, keen(mode))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 2 {
				got := p.grep(t, e, storing(t, "needle"))
				if !strings.HasPrefix(got, "a (1)\n1:needle 1[{0 6}]\nz (1)\n1:needle") || !strings.Contains(got, "Binary:1") {
					t.Errorf("got %s", got)
				}
				settle(t, e)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 { // buffers that double up to 64 MiB, twice
				t.Errorf("%d bytes allocated", n)
			}
		})
	}
}

// Trim forgets the trees that were searched longest ago, and no search finds less for it.
func TestTrim(t *testing.T) {
	e := newEngine(t, keen(Strict))
	var planted []planted
	for range 3 {
		p := several(t, 50)
		p.warm(t, e)
		planted = append(planted, p)
	}
	newest := e.places[0].bytes()
	for _, tt := range []struct {
		limit int64
		want  int
	}{{1 << 30, 3}, {newest, 1}, {0, 0}} {
		last := slices.Clone(e.places)
		e.Trim(tt.limit)
		if !slices.Equal(e.places, last[:tt.want]) {
			t.Errorf("%d trees are kept below %d bytes, want the %d that were searched last", len(e.places), tt.limit, tt.want)
		}
	}
	for _, p := range planted {
		p.same(t, e, storing(t, "needle 7"))
	}
}
