package persist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
)

// stalledLog is a log whose disk does not answer until it goes on.
type stalledLog struct {
	logFile
	goesOn chan struct{} // closed: it answers
}

func (l *stalledLog) WriteAt(b []byte, off int64) (int, error) {
	<-l.goesOn
	return l.logFile.WriteAt(b, off)
}

func (l *stalledLog) Sync() error {
	<-l.goesOn
	return l.logFile.Sync()
}

// stalledStore is a store with one record whose disk has stalled since.
func stalledStore(t *testing.T) (*Store, *faultyLog, *stalledLog) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	d := s.kept.(*queuedSession).disk
	d.sync.due = true // a timer's sync would wait for a mutex, which keeps the test's clock from moving
	mustAppend(t, s, 1, 1)
	log := &stalledLog{f, make(chan struct{})}
	d.log.f = log
	var err error
	if d.session, err = os.OpenRoot(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return s, f, log
}

// A disk that stalls holds up no caller, and gets every record, in order, when it goes on.
func TestStalledDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, log := stalledStore(t)
		began := time.Now()
		var told []int64
		for n := 2; n <= 40; n++ {
			limit := time.Second
			if s.Stalled() {
				limit = 0
			}
			if _, err := s.Submit([]Line{s.Line(event(n))}, func(first int64) { told = append(told, first) }).Wait(limit); !errors.Is(err, ErrPending) {
				t.Fatalf("append to a stalled disk: %v", err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := s.Reserve(ctx); !errors.Is(err, ErrPending) {
			t.Errorf("Reserve: %v", err)
		}
		if err := s.Sync(ctx); !errors.Is(err, ErrPending) {
			t.Errorf("Sync: %v", err)
		}
		if _, err := s.Payload("inv_1", "out", "text/plain", "full_output"); !errors.Is(err, ErrPending) {
			t.Errorf("Payload: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("all that took %v", took)
		}
		if len(told) > 0 || !s.Stalled() {
			t.Errorf("told of %v; stalled %v", told, s.Stalled())
		}
		close(log.goesOn)
		if first, err := s.Append(event(41)); err != nil || first != 42 {
			t.Errorf("append when the disk went on: %d, %v; want 42", first, err)
		}
		if len(told) != 39 || !slices.IsSorted(told) {
			t.Errorf("told of %v", told)
		}
		if kinds, _ := entriesOf(t, f); len(kinds) != 42 || slices.Contains(kinds, "journal.gap") {
			t.Errorf("%d records: %v", len(kinds), kinds)
		}
	})
}

// What Close leaves to a disk that stalls is there once it goes on.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, log := stalledStore(t)
		_ = s.Submit([]Line{s.Line(event(2))}, nil)
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Fatalf("Close: %v", err)
		}
		if err := s.Settle(time.Second); !errors.Is(err, ErrPending) {
			t.Errorf("the disk has not answered: %v", err)
		}
		time.AfterFunc(5*time.Second, func() { close(log.goesOn) })
		if err := s.Settle(time.Minute); err != nil {
			t.Errorf("the disk has answered: %v", err)
		}
		if kinds, _ := entriesOf(t, f); len(kinds) != 4 || kinds[3] != "session.closed" {
			t.Errorf("%v", kinds)
		}
	})
}

// The queue of a disk that stalls is bounded: what does not fit is counted as lost.
func TestStalledDiskIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f, log := stalledStore(t)
		large := []byte(`{"event_type":"x","data":"` + string(bytes.Repeat([]byte("x"), 100<<10)) + `"}`)
		for range 3 * queueBytes / len(large) {
			_ = s.Submit([]Line{s.Line(large)}, nil)
		}
		for range 2 * queueEvents {
			_ = s.Submit([]Line{s.Line(event(1))}, nil)
		}
		line := s.kept.(*queuedSession).line
		line.mu.Lock()
		events, size, tasks := line.events, line.bytes, len(line.tasks)
		line.mu.Unlock()
		if events > queueEvents || size > queueBytes || tasks > queueEvents+1 {
			t.Errorf("the queue holds %d events of %d bytes in %d tasks", events, size, tasks)
		}
		close(log.goesOn)
		synctest.Wait()
		if _, err := s.Append(event(2)); err != nil {
			t.Fatal(err)
		}
		kinds, _ := entriesOf(t, f)
		if n := len(kinds); n < 3 || kinds[n-2] != "journal.gap" {
			t.Errorf("%d records, the last %v", n, kinds[max(0, n-3):])
		}
	})
}

// A session on a disk that stalls closes within a second, and says that it is not whole.
func TestCloseOfStalledDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, log := stalledStore(t)
		began := time.Now()
		if err := s.Close(); !errors.Is(err, ErrPending) || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("Close: %v after %v", err, time.Since(began))
		}
		if _, err := s.Append(event(2)); !errors.Is(err, ErrClosed) {
			t.Errorf("Append after Close: %v", err)
		}
		close(log.goesOn)
	})
}

// Without a deadline a call that needs the log waits ten seconds for a disk that stalls, and goes on if that is over before.
func TestReserveWaitsForStalledDisk(t *testing.T) {
	for _, stall := range []time.Duration{5 * time.Second, time.Minute} {
		t.Run(fmt.Sprint(stall), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, log := stalledStore(t)
				_ = s.Submit([]Line{s.Line(event(2))}, nil)
				time.AfterFunc(stall, func() { close(log.goesOn) })
				err := s.Reserve(context.Background())
				if stall < stallLimit && err != nil || stall > stallLimit && agenttool.AsError(err, agenttool.ExecutionFailed).Code != "journal_stalled" {
					t.Errorf("Reserve: %v", err)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}
