package engine

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// A tree of many files is listed and searched whole in every mode, and what is kept of it is some hundred bytes for each.
// How many files TOOLHOST_FILES says, 5,000 without it; at a million most of the time goes into making them.
func TestManyFiles(t *testing.T) {
	count := 5000
	if text := os.Getenv("TOOLHOST_FILES"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal("TOOLHOST_FILES:", err)
		}
	}
	p := plant(t, nil)
	for i := range count {
		dir := p.at(fmt.Sprintf("d%d/e%d", i/10000, i/1000%10))
		if i%1000 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(fmt.Sprintf("%s/file%d.txt", dir, i), fmt.Appendf(nil, "the text of number%dx\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	needle := fmt.Sprintf("number%dx", count*3/4)
	for name, mode := range map[string]Mode{"cold": Off, "strict": Strict, "watched": Watched} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e := newEngine(t, keen(mode))
			for pass := range 4 {
				begun, found := time.Now(), 0
				sum, err := e.Grep(context.Background(), p.root(t), storing(t, needle), func(part Part) bool { found += part.Count; return true })
				if err != nil || found != 1 || sum.Searched != count || sum.Listed.Partial {
					t.Fatalf("%d found, %+v, %v", found, sum, err)
				}
				t.Logf("search %d: %v", pass+1, time.Since(begun))
				settle(t, e)
			}
			begun, listed := time.Now(), 0
			if _, err := e.List(context.Background(), p.root(t), nil, func(FoundFile) bool { listed++; return true }); err != nil || listed != count {
				t.Fatalf("%d listed, %v", listed, err)
			}
			t.Logf("list: %v", time.Since(begun))
			runtime.GC()
			runtime.ReadMemStats(&after)
			kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("kept: %d MiB", kept>>20)
			if limit := int64(4<<20 + 600*count); kept > limit {
				t.Errorf("%d bytes are kept of %d files", kept, count)
			}
		})
	}
}
