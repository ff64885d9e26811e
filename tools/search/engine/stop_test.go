package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// What is found in one file is handed over in several parts, of which the taker wants no more than some.
func TestStopWithinAFile(t *testing.T) {
	for _, n := range []int{3, 40, 200} {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("d/%04d", i)] = "text\n"
		}
		files["d/0001x"] = strings.Repeat("needle "+strings.Repeat("x", 100)+"\n", 20_000)
		p := plant(t, files)
		e := newEngine(t, keen(Watched))
		p.warm(t, e)
		for stop := 1; stop < 6; stop++ {
			a := ask{Query: storing(t, "needle"), stop: stop}
			got, calm := p.guarded(t, e, a)
			want := "{Searched:3 Skipped:{Denied:0 Binary:0 Unreadable:0 Special:0 TooLarge:0} Listed:{Ignored:0 Hidden:0 Partial:false}}"
			cold, _ := p.guarded(t, newEngine(t, Options{Index: Off}), a)
			if !strings.HasSuffix(got, want) || !strings.HasSuffix(cold, want) {
				t.Errorf("%d files, stop %d: calm %v: %s, cold: %s", n, stop, calm, got[strings.LastIndex(got, "{Searched"):], cold[strings.LastIndex(cold, "{Searched"):])
			}
		}
	}
}

// The same of a single file.
func TestStopWithinTheOnlyFile(t *testing.T) {
	p := plant(t, map[string]string{"f": strings.Repeat("needle "+strings.Repeat("x", 100)+"\n", 20_000)})
	e := newEngine(t, Options{})
	f, err := os.Open(p.at("f"))
	must(t, err)
	defer f.Close()
	for stop := 1; stop < 4; stop++ {
		parts := 0
		_, err := f.Seek(0, 0)
		must(t, err)
		sum, err := e.GrepFile(context.Background(), f, storing(t, "needle"), func(Part) bool { parts++; return parts != stop })
		must(t, err)
		if sum.Searched != 1 || parts != stop {
			t.Errorf("stop %d: %d parts, %+v", stop, parts, sum)
		}
	}
}
