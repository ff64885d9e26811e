package shell

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"toolhost/agenttool"
)

// AT-291, AT-298: a stream that is too long is stored whole, shown by its ends, and says so.
func TestLongOutputIsStored(t *testing.T) {
	b := newBench(t, Options{})
	reporter := &fakeReporter{}
	r := b.runWith(t.Context(), t, reporter, cmd(`seq 20000; echo short >&2`))
	if got := reporter.payloads["stdout"].String(); got != numbered(20000) {
		t.Errorf("the payload has %d bytes", len(got))
	}
	if reporter.payloads["stderr"] != nil {
		t.Error("a short stream was stored")
	}
	if !r.StdoutTruncated || r.StderrTruncated || r.StdoutBytes != 108894 {
		t.Errorf("structured %v, %v, %d", r.StdoutTruncated, r.StderrTruncated, r.StdoutBytes)
	}
	if r.Persisted == nil || r.Persisted.Relation != "stdout" || r.Bytes != 108894 || len(r.Resources) != 1 {
		t.Errorf("persisted %+v of %d bytes, resources %v", r.Persisted, r.Bytes, r.Resources)
	}
	text := r.Content[0].Text
	mark := "\n[… 78,907 bytes (lines 3,221–17,501) omitted; whole output: toolhost://results/stdout …]\n17502\n"
	ends := strings.HasPrefix(text, "1\n2\n") && strings.HasSuffix(text, "\n20000\n[stderr]\nshort\n")
	if !ends || !strings.Contains(text, mark) {
		at := strings.Index(text, "[…")
		t.Errorf("around the mark: %q", text[max(0, at-20):min(len(text), at+120)])
	}
	if len(text) > textBytes+200 {
		t.Errorf("the text has %d bytes", len(text))
	}
}

// Two streams that fit alone and not together are both to be had whole.
func TestBothStreamsTooLongTogether(t *testing.T) {
	b := newBench(t, Options{})
	reporter := &fakeReporter{}
	r := b.runWith(t.Context(), t, reporter, cmd(`seq 4000; seq 5000 >&2`))
	if len(r.Resources) != 1 && len(r.Resources) != 2 {
		t.Fatalf("resources %v", r.Resources)
	}
	if !r.StderrTruncated || reporter.payloads["stderr"].String() != numbered(5000) {
		t.Error("a cut stream is not whole in its payload")
	}
	if r.Persisted == nil || r.Persisted.Relation != "stderr" {
		t.Errorf("persisted %+v, want the larger stream", r.Persisted)
	}
	if n := len(r.Content[0].Text); n > textBytes+300 {
		t.Errorf("the text has %d bytes", n)
	}
}

// Progress bars may be as long as they like: what is shown fits, what was said is stored.
func TestCollapsedOutputIsNotCut(t *testing.T) {
	b := newBench(t, Options{})
	reporter := &fakeReporter{}
	r := b.runWith(t.Context(), t, reporter, cmd(`seq 20000 | tr '\n' '\r'; echo; echo done`))
	if r.Stdout != "20000\ndone\n" || r.StdoutTruncated || r.Persisted != nil {
		t.Errorf("stdout %q, truncated %v, persisted %v", r.Stdout, r.StdoutTruncated, r.Persisted)
	}
	if len(r.Resources) != 1 || reporter.payloads["stdout"].Len() != 108900 {
		t.Errorf("resources %v", r.Resources)
	}
}

// A full disk does not end a command. The result says what is lost.
func TestPayloadFails(t *testing.T) {
	full := &failingPayload{}
	tests := []struct {
		name string
		sink func(string) (agenttool.Payload, error)
	}{
		{"at once", func(string) (agenttool.Payload, error) { return nil, syscall.ENOSPC }},
		{"in the middle", func(string) (agenttool.Payload, error) { return full, nil }},
		{"at its end", func(string) (agenttool.Payload, error) { return &failingPayload{room: 1 << 30}, nil }},
	}
	b := newBench(t, Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := b.runWith(t.Context(), t, &fakeReporter{sink: tt.sink}, cmd(`seq 20000`))
			if r.err != nil || r.exit() != 0 {
				t.Errorf("exit %d, %v", r.exit(), r.err)
			}
			if r.Persisted != nil || len(r.Resources) != 0 {
				t.Errorf("a payload that is not whole is referred to: %v, %v", r.Persisted, r.Resources)
			}
			if !strings.Contains(r.says(), "omitted; the rest is lost …]") ||
				!strings.Contains(r.says(), "[the omitted output could not be kept: no space left on device]") {
				t.Errorf("says %q", r.says()[len(r.says())-200:])
			}
		})
	}
	if !full.closed {
		t.Error("a payload that failed was not closed")
	}
}

type failingPayload struct {
	room   int
	closed bool
}

func (p *failingPayload) Write(b []byte) (int, error) {
	if p.room -= len(b); p.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

func (p *failingPayload) Close() (agenttool.Ref, error) {
	p.closed = true
	return agenttool.Ref{}, syscall.ENOSPC
}

// countingPayload keeps nothing and samples the heap.
type countingPayload struct {
	n    atomic.Int64
	peak *atomic.Uint64
}

func (p *countingPayload) Write(b []byte) (int, error) {
	if p.n.Add(int64(len(b)))%(4<<20) < int64(len(b)) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		for old := p.peak.Load(); m.HeapSys-m.HeapReleased > old && !p.peak.CompareAndSwap(old, m.HeapSys-m.HeapReleased); {
			old = p.peak.Load()
		}
	}
	return len(b), nil
}

func (p *countingPayload) Close() (agenttool.Ref, error) {
	return agenttool.Ref{URI: fmt.Sprint(p.n.Load())}, nil
}

func TestMemoryIsBounded(t *testing.T) {
	size := int64(300e6)
	if testing.Short() {
		size = 64e6
	}
	b := newBench(t, Options{})
	b.run(t, cmd("seq 20000"))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	payload := &countingPayload{peak: &peak}
	reporter := &fakeReporter{sink: func(string) (agenttool.Payload, error) { return payload, nil }}
	r := b.runWith(t.Context(), t, reporter, cmd(fmt.Sprintf("yes 'a line of output' | head -c %d", size)))
	if r.err != nil || r.StdoutBytes != size || payload.n.Load() != size {
		t.Fatalf("%d bytes counted, %d stored, %v", r.StdoutBytes, payload.n.Load(), r.err)
	}
	if peak.Load() == 0 {
		t.Fatal("the heap was never looked at")
	}
	if grown := int64(peak.Load()) - int64(before.HeapSys-before.HeapReleased); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	t.Logf("%d bytes in %d ms", size, r.DurationMS)
}

// A rune that is cut by two writes of the command is whole in the text.
func TestSplitRune(t *testing.T) {
	b := newBench(t, Options{})
	if r := b.run(t, cmd(`printf '\303'; sleep 0.05; printf '\251\n'`)); r.Stdout != "é\n" {
		t.Errorf("stdout %q", r.Stdout)
	}
}

func TestSpillTwiceOpensOnce(t *testing.T) {
	r := &fakeReporter{}
	c := newCapture("stdout", r)
	c.spill()
	c.spill()
	if _, err := c.Write([]byte("x")); err != nil || c.lost != nil {
		t.Errorf("%v, %v", err, c.lost)
	}
	if got := r.payloads["stdout"].String(); got != "x" {
		t.Errorf("payload %q", got)
	}
	if errors.Is(c.lost, syscall.ENOSPC) || c.ref() == nil || c.ref() != nil {
		t.Error("a payload is closed once")
	}
}
