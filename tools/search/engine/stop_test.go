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
		if p.visited(t, e, "needle") != 1 {
			t.Fatal("all files are visited")
		}
		for stop := 1; stop < 6; stop++ {
			for name, e := range map[string]*Engine{"cached": e, "cold": newEngine(t, Options{Index: Off})} {
				parts := 0
				sum, err := e.Grep(context.Background(), p.root(t), storing(t, "needle"), func(Part) bool { parts++; return parts != stop })
				must(t, err)
				if want := (Summary{Searched: 3}); sum != want || parts != stop {
					t.Errorf("%d files, %s: %d of %d parts, %+v", n, name, parts, stop, sum)
				}
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
