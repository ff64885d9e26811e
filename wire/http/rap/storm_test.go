package rap

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
)

// TestStorm: whatever runtimes do at once, each accepted call has one result, in its group's order of ending, and nothing is held at
// the end.
func TestStorm(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	chance := func(n int) bool { mu.Lock(); defer mu.Unlock(); return random.IntN(n) == 0 }
	slowly := func(ctx context.Context, _ json.RawMessage) (agenttool.Output, error) {
		select {
		case <-ctx.Done():
			return agenttool.Output{}, context.Cause(ctx)
		case <-time.After(time.Millisecond):
			return said("slow"), nil
		}
	}
	p := quick()
	p.total = 30 * time.Second
	f := newFixture(t, set{pace: p, options: Options{Dir: t.TempDir() + "/kept"}, tools: []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "slow", reads: true, run: slowly}, &fake{name: "write"},
	}})
	f.runtime.answer = func(_ int, w http.ResponseWriter, _ *http.Request) {
		if chance(4) {
			w.WriteHeader(http.StatusBadGateway)
		}
	}
	var accepted sync.Map
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			group := fmt.Sprint("g", client%4)
			for i := range 40 {
				id := fmt.Sprint("c", client, "-", i)
				tool := []string{"look", "slow", "write", "none"}[i%4]
				for {
					status, _ := f.send("/invoke", f.invocation(id, tool, fields{"group_id": group}))
					if status == 200 {
						break
					}
					if status != 503 {
						t.Errorf("status %d", status)
						return
					}
					f.send("/close_thread", fields{"thread_id": group}) // questions that nobody answers fill it up
					time.Sleep(5 * time.Millisecond)
				}
				accepted.Store(id, true)
				if chance(3) || tool == "write" {
					f.send("/cancel_tool_call", fields{"thread_id": group, "tool_call_id": id})
				}
				if chance(20) {
					f.send("/close_thread", fields{"thread_id": group})
				}
			}
		})
	}
	clients.Wait()
	f.idle()
	n := 0
	accepted.Range(func(id, _ any) bool {
		n++
		if got := f.runtime.count("tool_result", id.(string)); got != 1 {
			t.Errorf("%s has %d results", id, got)
		}
		return true
	})
	if n != 320 || f.owed() != 0 || len(f.outbox.lines) != 0 || len(f.host.Status().Calls) != 0 {
		t.Errorf("%d calls, %d bytes wait", n, f.owed())
	}
	if names := namesIn(t, f.o.Dir); names != "" {
		t.Errorf("files are left: %s", names)
	}
}
