package host_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
)

// TestBatchesFitMemory: where memory is limited, a batch whose results it cannot hold is refused, and one that it cannot hold beside others
// has to be sent again when these have ended.
func TestBatchesFitMemory(t *testing.T) {
	block := make(chan struct{})
	look := &fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		<-block
		return agenttool.Output{}, nil
	}}
	f := newFixture(t, []agenttool.Tool{look}, func(o *host.Options) { o.Memory = 10 << 20 })
	batch := func(id string, n int) host.BatchRequest {
		b := host.BatchRequest{ID: id}
		for i := range n {
			b.Calls = append(b.Calls, host.Request{ID: fmt.Sprint(id, i), Tool: "look", Input: input("a")})
		}
		return b
	}
	if err := f.Batch(batch("large", 41), func([]host.Completion) { t.Error("it ran") }); !host.IsRefused(err) {
		t.Errorf("a batch that is too large: %v", err)
	}
	ended := make(chan struct{}, 2)
	if err := f.Batch(batch("first", 40), func([]host.Completion) { ended <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	if err := f.Batch(batch("second", 1), func([]host.Completion) { t.Error("it ran") }); !errors.Is(err, host.ErrBusy) {
		t.Errorf("a batch beside it: %v", err)
	}
	close(block)
	<-ended
	if err := f.Batch(batch("third", 40), func([]host.Completion) { ended <- struct{}{} }); err != nil {
		t.Errorf("a batch after it: %v", err)
	}
	<-ended
}
