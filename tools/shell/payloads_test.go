package shell

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/agenttool"
)

// countedPayload is a payload that counts how many are open.
type countedPayload struct{ open *atomic.Int32 }

func (p countedPayload) Write(b []byte) (int, error)       { return len(b), nil }
func (p countedPayload) ReadAt([]byte, int64) (int, error) { return 0, nil }
func (p countedPayload) Close() (agenttool.Ref, error)     { p.open.Add(-1); return agenttool.Ref{}, nil }

// TestCanceledStartKeepsNothingOpen: a command may have said much already when its call is cancelled before the start is known.
func TestCanceledStartKeepsNothingOpen(t *testing.T) {
	b := newBenchIn(t, t.TempDir(), Options{})
	var open, opened atomic.Int32
	r := &fakeReporter{sink: func(string) (agenttool.Payload, error) {
		open.Add(1)
		opened.Add(1)
		return countedPayload{&open}, nil
	}}
	for i := range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%20)*1000*time.Microsecond)
		b.runWith(ctx, t, r, cmd("seq 100000"))
		cancel()
	}
	b.jobs.Close()
	for end := time.Now().Add(time.Minute); open.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d payloads stay open", open.Load(), opened.Load())
		}
	}
}
