package host

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/persist"
)

// TestForkBeforeTheFirstRecord: a call that is stuck before its first record, and is concluded by another goroutine, has that record once, and
// first, also if the stuck goroutine goes on.
func TestForkBeforeTheFirstRecord(t *testing.T) {
	store := persist.New(persist.Options{Ephemeral: true})
	h, err := New(Options{Locate: func(*agenttool.Path) error { return nil }, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(h, Request{ID: "c", Tool: "none", Input: []byte(`{}`)}, adapted{input: []byte(`{}`)}, h.rules.Policy())
	if ack, late := c.rec.requestCancel(Interrupt, "why not", ""); late || !ack.Acknowledged || ack.Status != "planned" {
		t.Errorf("%+v, late %v", ack, late)
	}
	if c.rec.push() != nil {
		t.Error("something was written before the first record")
	}
	fork := c.rec.fork()
	fork.begin(c)
	c.rec.begin(c) // the stuck goroutine goes on
	c.rec.emit(agenttool.EventSelected)
	if err := c.rec.flush(); err != nil {
		t.Error(err)
	}
	if err := fork.flush(); err != nil {
		t.Error(err)
	}
	entries, _, err := store.Since(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			t.Fatal(err)
		}
		if e.InvocationID == c.rec.id {
			got = append(got, strings.TrimPrefix(string(e.EventType), "tool."))
		}
	}
	if want := []string{"invocation.planned", "x.cancel_requested", "x.cancel_acknowledged"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.cancel(nil)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
