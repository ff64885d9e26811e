package mcp

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolhost/agenttool"
	"toolhost/host"
)

// TestLeave: a call that a request leaves is wanted as long as somebody can come to its result.
func TestLeave(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	open, answered := &question{over: make(chan struct{})}, &question{over: ended}
	for _, tt := range []struct {
		name          string
		one           *flight
		wanted, alone bool
	}{
		{"nobody knows it", &flight{dialog: dialog{open: open}}, false, false},
		{"another waits", &flight{resultHandles: resultHandles{waiting: 1}}, true, false},
		{"its client is asked", &flight{dialog: dialog{open: open}, resultHandles: resultHandles{handed: true}}, true, true},
		{"its client has answered", &flight{dialog: dialog{open: answered}, resultHandles: resultHandles{handed: true}}, false, true},
		{"it has ended", &flight{resultHandles: resultHandles{handed: true}, landing: landing{ended: ended}}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var fs flights
			fs.join(tt.one)
			wanted, forsaken := fs.leave(tt.one)
			if wanted != tt.wanted || len(fs.alone) == 1 != tt.alone || forsaken != nil {
				t.Errorf("wanted %v, alone %v, forsaken %v", wanted, fs.alone, forsaken)
			}
			fs.join(tt.one)
			if len(fs.alone) != 0 {
				t.Error("it is alone though a request waits")
			}
		})
	}
}

// working is a tool that is asked about, and then runs until it is let go.
func working(t *testing.T) (f *fixture, started, let chan struct{}) {
	started, let = make(chan struct{}), make(chan struct{})
	return newFixture(t, func(o *host.Options) {
		o.Tools = append(o.Tools, &fake{name: "work", run: func(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
			close(started)
			select {
			case <-ctx.Done():
				return agenttool.Output{}, ctx.Err()
			case <-let:
				return agenttool.Output{Content: []agenttool.Content{agenttool.Text("worked")}}, nil
			}
		}})
		askFirst(o, "work")
	}), started, let
}

// cancel takes the newest request back.
func (c *rawClient) cancel() {
	c.t.Helper()
	params := fmt.Appendf(nil, `{"requestId":%d}`, c.next)
	if err := c.conn.Write(c.t.Context(), &jsonrpc.Request{Method: methodCancelled, Params: params}); err != nil {
		c.t.Fatal(err)
	}
}

// waiting returns how many requests wait for the calls that go on.
func (f *fixture) waiting() int {
	n := 0
	for _, one := range f.flights.live() {
		f.flights.mu.Lock()
		n += one.waiting
		f.flights.mu.Unlock()
	}
	return n
}

func (f *fixture) waitWaiting(n int) {
	f.t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if f.waiting() == n {
			return
		}
	}
	f.t.Fatalf("%d requests wait, want %d", f.waiting(), n)
}

// TestOneStopsWaiting: who takes a request back does not end the call of those who wait for it as well, or who were asked
// about it and can come for its result (F10).
func TestOneStopsWaiting(t *testing.T) {
	f, started, let := working(t)
	c := f.raw()
	params := map[string]any{"name": "work", "arguments": map[string]any{}}
	asked := c.must("tools/call", params)
	params = with(params, "requestState", asked.RequestState)
	first := c.start("tools/call", with(params, "inputResponses", map[string]any{"approval": says("accept", "allow_once")}))
	<-started
	c.start("tools/call", params)
	f.waitWaiting(2)
	c.cancel()
	f.waitWaiting(1)
	c.start("tools/call", params)
	f.waitWaiting(2)
	close(let)
	if res, err := c.take(<-first); err != nil || res.IsError || res.text() != "worked" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestAllStopWaiting: a request that is taken back stops what was allowed, if nobody else waits for it.
func TestAllStopWaiting(t *testing.T) {
	f, started, _ := working(t)
	c := f.raw()
	params := map[string]any{"name": "work", "arguments": map[string]any{}}
	asked := c.must("tools/call", params)
	params = with(params, "requestState", asked.RequestState)
	c.start("tools/call", with(params, "inputResponses", map[string]any{"approval": says("accept", "allow_once")}))
	<-started
	c.cancel()
	f.waitWaiting(0)
	f.waitEnded(1)
	if got := f.invocations(); len(got) != 1 || got[0].Status != agenttool.StatusCanceled {
		t.Errorf("%+v", got)
	}
	if res := c.must("tools/call", params); !res.IsError {
		t.Errorf("%s", res.raw)
	}
}

// TestForsakenCalls: clients that ask and do not come back leave room for others (F3).
func TestForsakenCalls(t *testing.T) {
	f := newFixture(t, asking)
	c := f.raw()
	const more = 5
	var asked []*reply
	for i := range maxAlone + more {
		asked = append(asked, c.must("tools/call", writing(fmt.Sprint(i))))
	}
	f.waitPrompts(maxAlone)
	allow := map[string]any{"approval": says("accept", "allow_once")}
	for _, i := range []int{0, more - 1, more, maxAlone + more - 1} {
		res := c.must("tools/call", with(writing(fmt.Sprint(i)), "requestState", asked[i].RequestState, "inputResponses", allow))
		if forsaken := i < more; res.IsError != forsaken || f.has(fmt.Sprint(i)) == forsaken {
			t.Errorf("call %d: %s", i, res.raw)
		}
	}
}
