package shell

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What was written before a deadline is read, even if the reader gets its turn only after it.
func TestDeadlineLosesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	said := strings.Repeat("x", 50_000)
	if _, err := w.WriteString(said); err != nil {
		t.Fatal(err)
	}
	s := newStream("stdout", &fakeReporter{}, r)
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	s.start()
	if open := drain([]*stream{s}, -time.Second); !open || s.bytes != int64(len(said)) {
		t.Errorf("open %v, read %d of %d bytes", open, s.bytes, len(said))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if resume([]*stream{s}, -time.Second) {
		t.Error("a closed pipe is still open")
	}
}

// A writer that never stops is not followed for ever.
func TestSweepIsBounded(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends when the reading end is closed
		defer close(ended)
		for line := []byte(strings.Repeat("y", 4096)); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}()
	s := newStream("stdout", &fakeReporter{}, r)
	s.start()
	if !drain([]*stream{s}, 10*time.Millisecond) {
		t.Error("the pipe is open")
	}
	_ = r.Close()
	<-ended
	_ = w.Close()
}
