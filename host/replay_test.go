package host_test

import (
	"testing"
	"time"

	"toolhost/host"
	"toolhost/persist"
)

// TestReplayGoesOnFromWhatItHandedOver: an event can be replayed before subscribers are told of it. A client that has it comes again with
// its seq.
func TestReplayGoesOnFromWhatItHandedOver(t *testing.T) {
	f := newFixture(t, nil)
	if _, err := f.store.Submit([]persist.Line{f.store.Line([]byte(`{"event_type":"tool.call.queued"}`))}, nil).Wait(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	replay := func() error {
		return f.Replay(last, 0, &host.Subscription{Tell: func(host.Notice) {}}, func(entries []persist.Entry, _ bool) {
			for _, e := range entries {
				last = e.Seq
			}
		})
	}
	if err := replay(); err != nil || last == 0 {
		t.Fatalf("replayed up to %d: %v", last, err)
	}
	if err := replay(); err != nil {
		t.Errorf("again after %d: %v", last, err)
	}
	if last++; replay() == nil {
		t.Errorf("there is no event %d", last)
	}
}
