package rap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	wirehttp "toolhost/wire/http"
)

const floodToken = "t0ken-of-the-flood-1234567890"

// behindFront serves the fixture behind the server that users have, and returns its address.
func (f *fixture) behindFront() string {
	f.t.Helper()
	front, err := wirehttp.Listen(wirehttp.Options{
		Token: floodToken, Host: f.host, Session: f.store.ID(), Mounts: map[string]http.Handler{"/rap": f.Handler()},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, end := context.WithCancel(context.Background())
	go func() { ended <- front.Serve(ctx) }()
	f.t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	})
	return front.URL() + "/rap"
}

// deaf is an address that takes connections and says nothing.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String() + "/"
}

// TestFlood sends 500 invocations at once, each over a connection of its own. All of them are answered with 200, each
// has its result, and those whose callback is dead delay none.
func TestFlood(t *testing.T) {
	p := quick()
	p.closing = 0 // what goes to the dead one is left
	f := newFixture(t, set{pace: p})
	url, dead := f.behindFront(), deaf(t)
	var mu sync.Mutex
	taken := map[bool][]string{} // ids, by whether their callback is dead
	var clients sync.WaitGroup
	for i := range 500 {
		clients.Go(func() {
			id, change := fmt.Sprint("c", i), fields{"group_id": fmt.Sprint("g", i%10)}
			lost := i%10 == 0
			if lost {
				change["callback_url"] = dead
			}
			body, _ := json.Marshal(f.invocation(id, "look", change))
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/invoke", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+floodToken)
			transport := &http.Transport{DisableKeepAlives: true}
			res, err := (&http.Client{Transport: transport}).Do(r)
			if err != nil {
				t.Errorf("%s: %v", id, err)
				return
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", id, res.Status)
				return
			}
			mu.Lock()
			taken[lost] = append(taken[lost], id)
			mu.Unlock()
		})
	}
	clients.Wait()
	for _, id := range taken[false] {
		f.result(id)
		if n := f.runtime.count("tool_result", id); n != 1 {
			t.Errorf("%s has %d results", id, n)
		}
	}
	f.until("only what goes to the dead one is owed", func() bool {
		f.Server.mu.Lock()
		defer f.Server.mu.Unlock()
		return len(f.calls) == len(taken[true])
	})
	if len(taken[false]) < maxPerGroup || len(taken[true]) == 0 {
		t.Errorf("%d were accepted, and %d with a dead callback", len(taken[false]), len(taken[true]))
	}
	t.Logf("%d of 450 were accepted and answered, %d of 50 with a dead callback accepted", len(taken[false]), len(taken[true]))
}
