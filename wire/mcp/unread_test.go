package mcp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"toolhost/agenttool"
	"toolhost/wire/stdio"
)

// TestUnreadResultsLetNoOtherBegin: a client that sends calls and reads nothing has only so many of them run.
func TestUnreadResultsLetNoOtherBegin(t *testing.T) {
	const sent = 2000
	synctest.Test(t, func(t *testing.T) {
		var began atomic.Int64
		count := &fake{name: "count", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
			began.Add(1)
			return agenttool.Output{}, nil
		}}
		f := newFixture(t, adding(count))
		var mu sync.Mutex
		written := 0
		read := make(chan struct{})
		st := f.Stream(StreamOptions{
			Write: func([]byte, bool) { mu.Lock(); written++; mu.Unlock() },
			Room:  func() { <-read },
		})
		for i := range sent {
			m, bad := stdio.Decode([]byte(modernCall(fmt.Sprint(i), "count", "{}")))
			if bad != nil {
				t.Fatal(bad)
			}
			st.Receive(Line(m))
		}
		synctest.Wait()
		if n := began.Load(); n == 0 || n > 100 {
			t.Errorf("%d of %d calls began though no result was read", n, sent)
		}
		close(read)
		synctest.Wait()
		mu.Lock()
		if n := began.Load(); n != sent || written != sent {
			t.Errorf("%d calls began and %d were answered after all was read, of %d", n, written, sent)
		}
		mu.Unlock()
		st.Drain(t.Context())
	})
}
