package output

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"toolhost/agenttool"
)

// filePayload is a payload in a file.
type filePayload struct{ *os.File }

func (p filePayload) Close() (agenttool.Ref, error) {
	info, err := p.Stat() // it stays open for reading
	if err != nil {
		return agenttool.Ref{}, err
	}
	return agenttool.Ref{SizeBytes: info.Size()}, nil
}

func intoFile(t testing.TB, o Options) *Log {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	o.Open = func() (agenttool.Payload, error) { return filePayload{f}, nil }
	return New(o)
}

// 50 logs that are written by two pumps each, and read meanwhile by cursor: no line is lost, doubled or mixed.
func TestManyLogs(t *testing.T) {
	jobs, each := 50, 2000
	if testing.Short() || raceDetector {
		each = 200
	}
	var all sync.WaitGroup
	for job := range jobs {
		l := intoFile(t, Options{Ring: 8 << 10, Spill: 1 << 10})
		var writers sync.WaitGroup
		for _, s := range []Stream{Stdout, Stderr} {
			writers.Go(func() {
				for i := range each {
					l.Write(s, fmt.Appendf(nil, "job %d %v line %d é\n", job, s, i))
				}
			})
		}
		all.Go(func() {
			writers.Wait()
			_, _ = l.Close()
		})
		for _, s := range []Stream{Stdout, Stderr} {
			all.Go(func() { follow(t, l, s, job, each) })
		}
	}
	all.Wait()
}

// follow reads a stream to its end and compares.
func follow(t *testing.T, l *Log, s Stream, job, lines int) {
	var got strings.Builder
	for at := int64(0); ; {
		changed := l.Changed()
		p := l.Read(Request{From: at, Max: 500, Streams: Only(s)})
		got.WriteString(p.Text)
		if at = p.Next; p.More {
			continue
		}
		if l.Stats().Closed && at == l.Stats().Bytes {
			break
		}
		<-changed
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "job %d %v line %d é\n", job, s, i)
	}
	if got.String() != want.String() {
		t.Errorf("job %d: %v has %d bytes, want %d", job, s, got.Len(), want.Len())
	}
}

// heap is what is held. How much there is besides that is waste depends on when the collector gets its turn.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// 300 MB go through a log that holds less than 2 MiB, every one of them to the payload, while somebody reads.
func TestMemoryIsBounded(t *testing.T) {
	size := 300_000_000
	if testing.Short() || raceDetector {
		size = 64_000_000
	}
	chunk := []byte(strings.Repeat("a line of output\n", fullRead/17))
	l := intoFile(t, Options{})
	hash := sha256.New()
	before, peak := heap(), int64(0)
	for sent, at := 0, int64(0); sent < size; {
		l.Write(Stream(sent/len(chunk)%2), chunk)
		hash.Write(chunk)
		if sent += len(chunk); sent/len(chunk)%64 == 0 {
			at = l.Read(Request{From: at}).Next
			l.Tail(100, 0, 0)
			l.Rendered(pageBytes, 0)
			peak = max(peak, heap())
		}
	}
	grown := peak - before
	if limit := int64(2 << 20); grown > limit && !raceDetector {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("the heap grew by %d KiB", grown>>10)
	stored := sha256.New()
	n, err := io.Copy(stored, io.NewSectionReader(l.payload, 0, l.Stats().Bytes))
	if err != nil || n != l.Stats().Bytes || string(stored.Sum(nil)) != string(hash.Sum(nil)) {
		t.Errorf("%d of %d bytes, %v; or they are others", n, l.Stats().Bytes, err)
	}
}

// In the steady state a write allocates nothing.
func TestWriteAllocatesNothing(t *testing.T) {
	l := into(&fakePayload{}, Options{})
	l.payload, l.spilled = discard{}, true
	chunk := []byte(strings.Repeat("a line of output\n", 1000))
	write := func() {
		l.Write(Stdout, chunk)
		l.Write(Stderr, chunk[:100])
	}
	for range 2 * maxRuns {
		write()
	}
	if n := testing.AllocsPerRun(1000, write); n != 0 {
		t.Errorf("%v allocations for each write", n)
	}
}

// discard is a payload that keeps nothing.
type discard struct{}

func (discard) Write(p []byte) (int, error)             { return len(p), nil }
func (discard) ReadAt(p []byte, off int64) (int, error) { return 0, io.EOF }
func (discard) Close() (agenttool.Ref, error)           { return agenttool.Ref{}, nil }

func BenchmarkWrite(b *testing.B) {
	chunk := []byte(strings.Repeat("a line of output\n", fullRead/17))
	for _, bb := range []struct {
		name string
		size int
	}{{"64KiB", len(chunk)}, {"4KiB", 4 << 10}, {"line", 17}} {
		b.Run(bb.name, func(b *testing.B) {
			l := New(Options{Open: func() (agenttool.Payload, error) { return discard{}, nil }})
			b.SetBytes(int64(bb.size))
			b.ReportAllocs()
			for b.Loop() {
				l.Write(Stdout, chunk[:bb.size])
			}
		})
	}
}

func BenchmarkShort(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		l := New(Options{})
		l.Write(Stdout, []byte("hi\n"))
		l.Rendered(pageBytes, 0)
		_, _ = l.Close()
	}
}

// BenchmarkPage reads a page of 30,000 bytes from the ring.
func BenchmarkPage(b *testing.B) {
	l := said(Options{}, strings.Repeat("a line of output, and something more of it\n", 10_000))
	b.SetBytes(pageBytes)
	b.ReportAllocs()
	for b.Loop() {
		l.Read(Request{From: 1000})
	}
}

// BenchmarkRendered is the most that the result of a call can cost: a look at the last MiB.
func BenchmarkRendered(b *testing.B) {
	l := intoFile(b, Options{})
	for range 100 {
		say(l, strings.Repeat("a line of output, and something more of it\n", 1000))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Rendered(pageBytes, 0)
	}
}

func BenchmarkGrep(b *testing.B) {
	l := intoFile(b, Options{})
	for range 300 {
		say(l, strings.Repeat("a line of output, and something more of it\n", 1000))
	}
	b.SetBytes(l.Stats().Bytes)
	b.ReportAllocs()
	for b.Loop() {
		if m, err := l.Grep(context.Background(), regexp.MustCompile("warning|error"), 1000, 0); err != nil || m.Count > 0 {
			b.Fatal(m, err)
		}
	}
}
