package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A batch that waits for its turn may have a large buffer, and the one whose turn it is may need one: it waits for nobody.
func TestLargeLinesWaitForNobody(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := plant(t, nil)
	long := strings.Repeat("x", keepSize) + " needle\n"
	for i := range 4 * batchFiles {
		content := "nothing\n"
		if i%batchFiles == 0 {
			content = long + strings.Repeat("needle\n", maxHeld/16)
		}
		p.write(t, fmt.Sprintf("many/%03d", i), content)
	}
	e := New(Options{Index: Off})
	defer e.Close()
	for range cap(e.large) {
		e.large <- struct{}{} // other searches have them all
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	count := 0
	if _, err := e.Grep(ctx, p.root(t), storing(t, "needle"), func(part Part) bool { count += part.Count; return true }); err != nil {
		t.Fatal(err)
	}
	if want := 4 * (1 + maxHeld/16); count != want {
		t.Errorf("%d lines, want %d", count, want)
	}
}
