package index

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"toolhost/tools/search/literal"
)

func clause(fold bool, texts ...string) (c literal.Clause) {
	for _, text := range texts {
		c = append(c, literal.New([]byte(text), fold))
	}
	return c
}

func addText(t testing.TB, x *Index, text string) ID {
	t.Helper()
	id, ok := x.Add([]byte(text))
	if !ok {
		t.Fatal("the index is full")
	}
	return id
}

func TestClassOf(t *testing.T) {
	for _, test := range []struct{ size, rows int }{
		{0, 128}, {1, 128}, {256, 128}, {257, 256}, {512, 256}, {513, 512}, {1 << 15, 1 << 14}, {1<<15 + 1, 1 << 15},
		{ChunkSize, 1 << 15}, {ChunkSize + 1, 1 << 15}, {1 << 30, 1 << 15},
	} {
		if got := 1 << (minRowBits + classOf(test.size)); got != test.rows {
			t.Errorf("%d bytes: %d rows, want %d", test.size, got, test.rows)
		}
	}
}

func TestIDsAreGivenOnce(t *testing.T) {
	x := New(1 << 20)
	a, b := addText(t, x, "one"), addText(t, x, "two")
	if a == b || x.Len() != 2 {
		t.Errorf("%d, %d, %d chunks", a, b, x.Len())
	}
}

func TestIDsAreDense(t *testing.T) {
	x := New(64 << 20)
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[ID]bool{}
	const count = 500
	for range count {
		id, ok := x.Add(make([]byte, r.IntN(1<<r.IntN(17))))
		if !ok || seen[id] || id >= count+64*classes {
			t.Fatalf("ID %d, %t", id, ok)
		}
		seen[id] = true
	}
}

func TestAddHoldsTheLimit(t *testing.T) {
	for _, limit := range []int64{-1, 0, 1000, 5000, 300_000} {
		x := New(limit)
		added := 0
		for i := range 300 {
			if _, ok := x.Add(make([]byte, i*7919%70_000)); ok {
				added++
			}
			if x.Bytes() > max(limit, 0) {
				t.Fatalf("%d bytes, limit %d", x.Bytes(), limit)
			}
		}
		if x.Len() != added || (added > 0) != (limit > 1024+blockCost) || added == 300 {
			t.Errorf("limit %d: %d added, %d there", limit, added, x.Len())
		}
	}
}

func TestBytesIsWhatItTakes(t *testing.T) {
	before := heap()
	x := New(1 << 30)
	for i := range 64 * 100 {
		x.Add(make([]byte, i%5*1000))
	}
	got, want := x.Bytes(), heap()-before
	if got < want*95/100 || got > want*105/100 {
		t.Errorf("Bytes is %d, the heap grew by %d", got, want)
	}
	runtime.KeepAlive(x)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what is pooled is given up with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A chunk is found once Add has returned its ID, beside others that are being added; those are all candidates.
func TestQueryBesideAdd(t *testing.T) {
	x := New(64 << 20)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(n)))
			for range 200 {
				filler := bytes.Repeat([]byte("."), r.IntN(3000))
				before := addText(t, x, string(filler)+"the needle")
				c, ok := x.Query([]literal.Clause{clause(false, "needle"), clause(false, "the ")})
				after := addText(t, x, string(filler)+"the needle")
				if !ok || !c.Has(before) || !c.Has(after) {
					t.Errorf("%t: added before %t, after %t", ok, c.Has(before), c.Has(after))
				}
			}
		})
	}
	wg.Wait()
	if x.Len() != 1600 {
		t.Errorf("%d chunks", x.Len())
	}
}
