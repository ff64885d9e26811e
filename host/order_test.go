package host_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
)

// recorder is a tool that writes, and notes the order in which its calls run.
type recorder struct {
	mu  sync.Mutex
	ran []string
}

func (r *recorder) tool() *fake {
	return &fake{name: "write", run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ran = append(r.ran, in.Say)
		return agenttool.Output{}, nil
	}}
}

// TestConflictingCallsKeepTheirOrder sends calls that write one file, one after the other, without waiting for results.
func TestConflictingCallsKeepTheirOrder(t *testing.T) {
	const calls = 1000
	for _, batch := range []string{"", "b1"} {
		t.Run("batch "+batch, func(t *testing.T) {
			var r recorder
			f := newFixture(t, []agenttool.Tool{r.tool()}, func(o *host.Options) { o.Policy.Mode = permissions.AcceptEdits })
			var want []string
			var all sync.WaitGroup
			all.Add(calls)
			for i := range calls {
				say := fmt.Sprint(i)
				want = append(want, say)
				input := fmt.Appendf(nil, `{"path":"f","say":%q}`, say)
				if err := f.Invoke(host.Request{ID: say, Tool: "write", Batch: batch, Input: input}, func(host.Completion) { all.Done() }); err != nil {
					t.Fatal(err)
				}
			}
			all.Wait()
			if !slices.Equal(r.ran, want) {
				t.Errorf("%d calls that write one file ran in another order than they were sent in: %v …", calls, r.ran[:20])
			}
		})
	}
}

// TestPassing shows which calls pass an earlier one: those without a conflicting lock, and all while it waits for a person.
func TestPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorder
		slow := r.tool()
		slow.name = "slow"
		run := slow.run
		slow.run = func(ctx context.Context, in fakeInput, p agenttool.Reporter) (agenttool.Output, error) {
			time.Sleep(time.Minute)
			return run(ctx, in, p)
		}
		f := newFixture(t, []agenttool.Tool{r.tool(), slow}, func(o *host.Options) { o.Policy.Mode = permissions.AcceptEdits })
		first := f.start(host.Request{ID: "1", Tool: "slow", Input: []byte(`{"path":"f","say":"1"}`)})
		second := f.start(host.Request{ID: "2", Tool: "write", Input: []byte(`{"path":"f","say":"2"}`)})
		third := f.start(host.Request{ID: "3", Tool: "write", Input: []byte(`{"path":"g","say":"3"}`)})
		<-third
		<-first
		<-second
		if want := []string{"3", "1", "2"}; !slices.Equal(r.ran, want) {
			t.Errorf("ran in the order %v, want %v", r.ran, want)
		}
	})
}
