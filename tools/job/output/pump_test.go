package output

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// pipe returns both ends of a pipe that is closed with the test.
func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Close()
		_ = w.Close()
	})
	return r, w
}

func write(t testing.TB, w *os.File, s string) {
	t.Helper()
	if _, err := w.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func TestPump(t *testing.T) {
	r, w := pipe(t)
	l := said(Options{})
	p := Pump(l, Stderr, r)
	write(t, w, strings.Repeat("x", 200_000))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if s := l.Stats(); s.Err != 200_000 || s.Out != 0 || p.Open() || Drain(time.Hour, p) {
		t.Errorf("%+v", s)
	}
}

// What was written before a deadline is read, even if the reader gets its turn only after it. Who writes later is read
// as well.
func TestDrainLosesNothing(t *testing.T) {
	r, w := pipe(t)
	said1 := strings.Repeat("x", 50_000)
	write(t, w, said1)
	l := said(Options{})
	p := Pump(l, Stdout, r)
	if !Drain(-time.Second, p) || l.Stats().Bytes != int64(len(said1)) {
		t.Errorf("read %d of %d bytes", l.Stats().Bytes, len(said1))
	}
	write(t, w, "more")
	if !Drain(-time.Second, p) || l.Stats().Bytes != int64(len(said1))+4 {
		t.Errorf("read %d bytes, more was written", l.Stats().Bytes)
	}
	changed := l.Changed()
	write(t, w, "and more")
	<-changed
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if Drain(time.Hour, p) {
		t.Error("a closed pipe is still open")
	}
}

// Many pipes are drained in the time of one: so many that one after the other would take a minute.
func TestDrainOfMany(t *testing.T) {
	const many, each = 200, 300 * time.Millisecond
	l := said(Options{})
	var all []*Pumping
	for range many {
		r, _ := pipe(t)
		all = append(all, Pump(l, Stdout, r))
	}
	begin := time.Now()
	if !Drain(each, all...) {
		t.Error("nobody is left")
	}
	if took := time.Since(begin); took < each || took >= many*each/2 {
		t.Errorf("drained in %v", took)
	}
}

func TestDrainOfTwo(t *testing.T) {
	l := said(Options{})
	r1, w1 := pipe(t)
	r2, _ := pipe(t)
	out, errs := Pump(l, Stdout, r1), Pump(l, Stderr, r2)
	if !Drain(0, out, errs) {
		t.Error("nobody is left")
	}
	_ = w1.Close()
	<-out.Done()
	if !Drain(0, out, errs) || out.Open() || !errs.Open() {
		t.Error("one of two is open")
	}
}

// A writer that never stops is not followed for ever.
func TestSweepIsBounded(t *testing.T) {
	r, w := pipe(t)
	ended := make(chan struct{})
	go func() { // ends when the reading end is closed
		defer close(ended)
		for line := []byte(strings.Repeat("y", 4096)); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}()
	p := Pump(said(Options{}), Stdout, r)
	if !Drain(10*time.Millisecond, p) {
		t.Error("the pipe is open")
	}
	_ = r.Close()
	<-p.Done()
	<-ended
}

// Closing the reading end ends a pump that waits.
func TestPumpIsClosed(t *testing.T) {
	r, _ := pipe(t)
	p := Pump(said(Options{}), Stdout, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if Drain(time.Hour, p) {
		t.Error("a pump that has ended is open")
	}
}

// Many may drain at once.
func TestDrainTogether(t *testing.T) {
	r, w := pipe(t)
	l := said(Options{})
	p := Pump(l, Stdout, r)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				Drain(0, p)
			}
		})
	}
	for range 100 {
		write(t, w, "0123456789")
	}
	all.Wait()
	_ = w.Close()
	<-p.Done()
	if l.Stats().Bytes != 1000 {
		t.Errorf("%+v", l.Stats())
	}
}
