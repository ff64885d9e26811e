package host_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
)

// hang is a Run that goes on until its context ends.
func hang(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
	<-ctx.Done()
	return agenttool.Output{}, ctx.Err()
}

// TestAdviceFollowsFromFacts times out a call that reads, one that writes and one that waits for its lock: only the one that may have
// written is told to look first (AT-332), and the one that never ran is discarded (AT-199, AT-201).
func TestAdviceFollowsFromFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: hang}, &fake{name: "put", run: hang}}, allowing("put"))
		look := f.start(host.Request{ID: "look", Tool: "look", Input: input("b"), Timeout: time.Second})
		put := f.start(host.Request{ID: "put", Tool: "put", Input: input("a"), Timeout: time.Second})
		wait := f.start(host.Request{ID: "wait", Tool: "put", Input: input("a"), Timeout: time.Second / 2})
		for _, c := range []struct {
			name        string
			done        <-chan host.Completion
			advice      agenttool.Recovery
			safe, queue string
			look        bool
		}{
			{"reads", look, agenttool.RetrySafe, "yes", "completed", false},
			{"writes", put, agenttool.InspectFirst, "unknown", "completed", true},
			{"waits", wait, agenttool.RetrySafe, "yes", "discarded", false},
		} {
			got := <-c.done
			e := got.Result.Error
			if e.Class != agenttool.Timeout || e.Recoverability != c.advice || e.RetrySafe != c.safe {
				t.Errorf("%s: %s, advice %s, retry_safe %s; want %s, %s", c.name, e.Class, e.Recoverability, e.RetrySafe, c.advice, c.safe)
			}
			if state := got.Invocation.Scheduler.QueueState; state != c.queue {
				t.Errorf("%s: queue state %s, want %s", c.name, state, c.queue)
			}
			if said := strings.Contains(got.Result.Content[0].Text, "Look before"); said != c.look {
				t.Errorf("%s: the model reads %q", c.name, got.Result.Content[0].Text)
			}
			checkRecords(t, got)
		}
		f.Host.Close()
	})
}
