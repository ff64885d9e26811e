package index

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/tools/search/literal"
)

// source returns the text below a directory of Go's own source, as chunks: about 100 MB for ".".
func source(b testing.TB, dir string) (chunks [][]byte, size int64) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("the program go is missing:", err)
	}
	top := filepath.Join(strings.TrimSpace(string(root)), "src", dir)
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		size += int64(len(text))
		Cut(text, func(chunk []byte, _ int64, _ int) { chunks = append(chunks, chunk) })
		return nil
	})
	if err != nil || len(chunks) == 0 {
		b.Skip("the source of Go is not there:", err)
	}
	return chunks, size
}

func built(b testing.TB, chunks [][]byte) (x *Index, ids []ID) {
	b.Helper()
	x = New(1 << 30)
	for _, chunk := range chunks {
		id, ok := x.Add(chunk)
		if !ok {
			b.Fatal("the index is full")
		}
		ids = append(ids, id)
	}
	return x, ids
}

func BenchmarkAdd(b *testing.B) {
	chunks, size := source(b, ".")
	b.SetBytes(size)
	for b.Loop() {
		built(b, chunks)
	}
	x, _ := built(b, chunks)
	b.ReportMetric(float64(x.Bytes())/float64(size)*100, "%ofText")
}

func BenchmarkQuery(b *testing.B) {
	chunks, _ := source(b, ".")
	x, ids := built(b, chunks)
	for _, bench := range []struct {
		name    string
		needles []string
	}{
		{"rare", []string{"errNoSuchProcess"}},
		{"common", []string{"return"}},
		{"three", []string{"spinning", "goroutineProfile", "unlockWithRank"}},
	} {
		var clause literal.Clause
		for _, n := range bench.needles {
			clause = append(clause, literal.New([]byte(n), true))
		}
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Query([]literal.Clause{clause})
			}
			candidates, without := falseCandidates(x, ids, chunks, clause)
			b.ReportMetric(100*float64(candidates)/float64(without), "%false")
		})
	}
}
