package protect

import (
	"fmt"
	"strings"
	"testing"
)

// workspace makes a tree like a project's with about that many entries, a repository at its top and some names to seal.
func workspace(b *testing.B, entries int) string {
	b.Helper()
	root := fastDir(b)
	write(b, root, ".git/config = [core]\n\tbare = false\n", ".git/HEAD = ref: refs/heads/main\n", ".git/objects/",
		".git/refs/", ".vscode/settings.json = {}",
		".env = A=1", ".husky/pre-commit = x", "sub/lib/.git/config", "sub/lib/.git/hooks/")
	for i := range 13 {
		write(b, root, fmt.Sprintf(".git/hooks/hook%d.sample = %s", i, strings.Repeat("x", 2000)))
	}
	for i := range entries / 11 {
		for j := range 10 {
			write(b, root, fmt.Sprintf("src/p%d/d%d/f%d.go", i%37, i, j))
		}
	}
	return root
}

func BenchmarkScan(b *testing.B) {
	for _, entries := range []int{250, 2_500, 16_700} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			o := Options{Roots: []string{workspace(b, entries)}, GitConfigs: []string{}, ReadDeny: usualDeny()}
			var m *Map
			for b.Loop() {
				var err error
				if m, err = Scan(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(m.Sealed)+len(m.Pins)+len(m.Secrets)), "mounts")
			b.ReportMetric(float64(len(m.Partial)), "gaps")
		})
	}
}

func BenchmarkCache(b *testing.B) {
	c := NewCache(Options{Roots: []string{workspace(b, 2_500)}, GitConfigs: []string{}, ReadDeny: usualDeny()}, 0)
	defer c.Close()
	for b.Loop() {
		if _, err := c.Map(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	m := scanned(b, Options{Roots: []string{workspace(b, 250)}, ReadDeny: usualDeny()})
	snap, err := Take(m)
	must(b, err)
	for b.Loop() {
		if _, err := Take(m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(snap.looked), "names")
}
