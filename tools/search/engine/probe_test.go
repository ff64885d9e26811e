package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"toolhost/tools/search/match"
)

// TestProbes checks that a search without results finds what a probe would, with and without an index, and as the files
// are now.
func TestProbes(t *testing.T) {
	probes := []string{"nobody", "Nee[d]le"}
	both(t, func(t *testing.T, p planted, e *Engine) {
		for i := range 40 {
			p.write(t, fmt.Sprintf("probe/f%d.txt", i), "hay\nmore hay\n")
		}
		ask := func(expr string) *Probed {
			q := storing(t, expr)
			q.Probes = func() (all []Probe) {
				for _, expr := range probes {
					all = append(all, Probe{Pattern: pattern(t, expr, match.Options{}), Time: time.Minute})
				}
				return all
			}
			sum, err := e.Grep(context.Background(), p.root(t), q, func(Part) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			return sum.Probed
		}
		for round := range 4 {
			name := fmt.Sprintf("probe/f%d.txt", 7*round)
			if got := ask("neEdle"); got != nil {
				t.Fatalf("round %d: %+v", round, got)
			}
			p.write(t, name, "hay\na Needle\n")
			for range 2 { // before and after it is indexed
				got := ask("neEdle")
				if got == nil || got.Probe != 1 || got.Path != name || got.Line.Number != 2 || string(got.Line.Text) != "a Needle" {
					t.Fatalf("round %d: %+v", round, got)
				}
				p.warm(t, e)
			}
			if got := ask("Needle"); got != nil {
				t.Fatalf("round %d: a search with results was probed: %+v", round, got)
			}
			p.write(t, name, "hay\nnothing\n")
		}
	})
}
