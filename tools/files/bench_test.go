package files

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// benchSize is the size in MiB of the file in whose middle BenchmarkReadMiddle reads.
const benchSize = "TOOLHOST_BENCH_READ_MIB"

// BenchmarkReadMiddle reads 2,000 lines in the middle of a large text: by a session that has not seen the file, by the
// same one again, and by tail and head, in turns. The medians and their ratios are its metrics.
func BenchmarkReadMiddle(b *testing.B) {
	size, err := strconv.Atoi(os.Getenv(benchSize))
	if err != nil {
		b.Skip(benchSize + " does not say how large a file to read")
	}
	p := newProject(b, Options{})
	line := p.putLarge("f", size) / 2
	call := p.mustBind("read", in{"path": "f", "offset": line, "limit": 2000})
	read := func() {
		if _, err := call.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
	tail := func() {
		out, err := exec.Command("sh", "-c", fmt.Sprintf("tail -n +%d %s | head -n 2000", line, p.path("f"))).Output()
		if err != nil || len(out) < 2000 {
			b.Fatalf("tail and head give %d bytes, %v", len(out), err)
		}
	}
	var first, again, rival []time.Duration
	for b.Loop() {
		p.tools["read"].(readTool).session.surveys = newSurveys()
		first = append(first, timed(read))
		again = append(again, timed(read))
		rival = append(rival, timed(tail))
	}
	base := float64(median(rival))
	b.ReportMetric(float64(median(first))/1e6, "first-ms")
	b.ReportMetric(float64(median(again))/1e6, "again-ms")
	b.ReportMetric(base/1e6, "tail-ms")
	b.ReportMetric(float64(median(first))/base, "first/tail")
	b.ReportMetric(float64(median(again))/base, "again/tail")
}

// putLarge writes a text of that many MiB and returns the number of its lines.
func (p *project) putLarge(name string, mib int) (lines int) {
	p.t.Helper()
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "%*d\n", i*7%57, i)
	}
	f, err := os.Create(p.path(name))
	for range mib {
		if err == nil {
			_, err = io.WriteString(f, b.String())
		}
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return mib * strings.Count(b.String(), "\n")
}

func timed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func BenchmarkRead8KB(b *testing.B) {
	p := newProject(b, Options{})
	p.put("f", strings.Repeat("a line of text\n", 8<<10/15))
	call := p.mustBind("read", in{"path": "f"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadUTF8 reads a page of a text of 1 MB with characters of several bytes.
func BenchmarkReadUTF8(b *testing.B) {
	p := newProject(b, Options{})
	p.put("f", strings.Repeat("zeile äöü € 日本\n", 1_000_000/25))
	call := p.mustBind("read", in{"path": "f", "limit": 100})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEdit replaces a unique string in texts of 8 KB and of 1 MB.
func BenchmarkEdit(b *testing.B) {
	for _, size := range []int{8 << 10, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p := newProject(b, Options{Durability: func() Durability { return agenttool.NotSynced }})
			p.put("f", "old\n"+strings.Repeat("zeile äöü € 日本\n", size/25))
			there := p.mustBind("edit", in{"path": "f", "old_string": "old", "new_string": "new"})
			back := p.mustBind("edit", in{"path": "f", "old_string": "new", "new_string": "old"})
			b.ReportAllocs()
			for b.Loop() {
				for _, call := range []agenttool.Call{there, back} {
					if _, err := call.Run(b.Context(), nil); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
