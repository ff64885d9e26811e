package rap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func testRetry(t *testing.T) {
	f := newFixture(t, set{})
	for _, c := range []struct {
		name   string
		answer func(n int, w http.ResponseWriter, r *http.Request)
		tries  int // before it is taken; 0: never
		sent   int // 0: tries
		logged string
	}{
		{"500, 503, then 200", func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				w.WriteHeader(500 + 3*(n-1))
			}
		}, 3, 0, ""},
		{"the connection breaks", func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				w.WriteHeader(0 + 599)
				panic(http.ErrAbortHandler)
			}
		}, 3, 0, ""},
		{"4xx", func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 0, 1, "404"},
		{"429", func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 0, 1, "429"},
		{"a redirect", func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/else", http.StatusTemporaryRedirect)
		}, 0, 1, "307"},
		{"an answer without end", func(_ int, w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, 1, 0, ""},
		{"an answer that is announced and never comes", func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(ample):
				t.Error("it was waited for")
			}
		}, 1, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hostile := newRuntime(t)
			hostile.answer = c.answer
			f.invoke(c.name, "look", fields{"callback_url": hostile.web.URL + "/s3cret", "group_id": c.name})
			f.idle()
			if c.tries > 0 {
				f.until("it is taken", func() bool { return len(hostile.taken()) > 0 })
			}
			hostile.mu.Lock()
			n, got := hostile.n, len(hostile.all)
			hostile.mu.Unlock()
			if want := max(c.tries, c.sent); n != want || (got > 0) != (c.tries > 0) {
				t.Errorf("%d requests, %d taken; want %d", n, got, want)
			}
			if !strings.Contains(f.logged(), c.logged) {
				t.Errorf("log %q does not say %s", f.logged(), c.logged)
			}
		})
	}
	if text := f.logged() + f.journal(); strings.Contains(text, "s3cret") || strings.Contains(text, "127.0.0.1") {
		t.Error("a callback URL was told")
	}
}

// TestSlowOnce: an attempt that takes too long is given up, and made again.
func TestSlowOnce(t *testing.T) {
	p := quick()
	p.attempt = 2 * time.Second
	f := newFixture(t, set{pace: p})
	hostile := newRuntime(t)
	hostile.answer = func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			<-r.Context().Done()
			w.WriteHeader(500)
		}
	}
	f.invoke("c", "look", fields{"callback_url": hostile.web.URL})
	f.idle()
	f.until("it is taken", func() bool { return len(hostile.taken()) > 0 })
	hostile.mu.Lock()
	defer hostile.mu.Unlock()
	if n, got := hostile.n, len(hostile.all); n < 2 || got != 1 { // a busy machine may be slow more than once
		t.Errorf("%d requests, %d taken", n, got)
	}
}

// TestUnreachable: messages to a runtime that is gone are given up in bounded time, all of them, and the log says so (RAP-20).
func TestUnreachable(t *testing.T) {
	p := quick()
	p.total = 100 * time.Millisecond
	f := newFixture(t, set{pace: p})
	gone := httptest.NewServer(nil)
	gone.Close()
	begun := time.Now()
	for i := range 50 {
		f.invoke(fmt.Sprint("c", i), "look", fields{"callback_url": gone.URL + "/s3cret"})
	}
	f.idle()
	if took := time.Since(begun); took > ample {
		t.Errorf("it took %s", took)
	}
	if log := f.logged(); !strings.Contains(log, "nobody listens there") || strings.Contains(log, "s3cret") {
		t.Errorf("log %s", log)
	}
	if f.owed() != 0 || len(f.outbox.lines) != 0 {
		t.Error("messages are held still")
	}
}

// TestOneCallbackDelaysNoOther: calls of one group that go to another callback than a dead one are answered meanwhile.
func TestOneCallbackDelaysNoOther(t *testing.T) {
	p := quick()
	p.attempt, p.total = 20*time.Second, 30*time.Second
	f := newFixture(t, set{pace: p})
	free := make(chan struct{})
	dead := newRuntime(t)
	dead.answer = func(int, http.ResponseWriter, *http.Request) { <-free }
	for i := range 3 {
		f.invoke(fmt.Sprint("c", i), "look", fields{"callback_url": dead.web.URL})
	}
	f.until("their results wait", func() bool { return f.outbox.waiting("g") == 3 })
	f.invoke("other", "look")
	f.result("other")
	if len(dead.taken()) != 0 {
		t.Error("something went through")
	}
	close(free)
	f.idle()
}

// TestOneGroupDelaysNoOther: a runtime that never answers holds up its own group only, and what it is owed comes in order (RAP-26).
func TestOneGroupDelaysNoOther(t *testing.T) {
	p := quick()
	p.attempt, p.total = 20*time.Second, 30*time.Second
	f := newFixture(t, set{pace: p})
	var stuck atomic.Bool
	stuck.Store(true)
	free := make(chan struct{})
	slow := newRuntime(t)
	slow.answer = func(int, http.ResponseWriter, *http.Request) { <-free }
	for i := range 5 {
		f.invoke(fmt.Sprint("c", i), "look", fields{"callback_url": slow.web.URL, "group_id": "slow"})
		f.until("its result waits", func() bool { return f.outbox.waiting("slow") == i+1 })
	}
	f.invoke("other", "look")
	f.result("other")
	if len(slow.taken()) != 0 {
		t.Error("something went through")
	}
	close(free)
	f.idle()
	for i, c := range slow.taken() {
		if c.text("id") != fmt.Sprint("c", i) {
			t.Errorf("place %d has %s", i, c.text("id"))
		}
	}
}

// TestCallbackHosts: where callbacks may go, by name (RAP-20, RAP-24).
func TestCallbackHosts(t *testing.T) {
	named := func(u *url.URL) error {
		if u.Hostname() == "agent.example.com" {
			return nil
		}
		return errors.New("not named: " + u.String())
	}
	for _, c := range []struct {
		url   string
		local bool // by default
		named bool // if settings name agent.example.com
	}{
		{"http://127.0.0.1:1/cb", true, true}, {"http://localhost:1", true, true}, {"http://LOCALHOST.:1", true, true}, {"http://[::1]:1", true, true},
		{"https://127.8.9.1", true, true}, {"http://[::ffff:127.0.0.1]:1", true, true}, {"http://a.localhost", true, true},
		{"https://agent.example.com/cb", false, true}, {"http://agent.example.com/cb", false, false}, {"https://other.example.com", false, false},
		{"http://0.0.0.0", false, false}, {"http://[::]", false, false}, {"http://127.1", false, false}, {"http://2130706433", false, false},
		{"http://localhost.example.com", false, false}, {"http://127.0.0.1.example.com", false, false}, {"http://169.254.169.254", false, false},
		{"ftp://127.0.0.1", false, false}, {"file:///etc/passwd", false, false}, {"//127.0.0.1", false, false}, {"http:127.0.0.1", false, false}, {"http://", false, false},
		{"http://127.0.0.1@other.example.com", false, false}, {"http://127.0.0.1%00.example.com", false, false},
	} {
		for _, allow := range []bool{false, true} {
			s, want := &Server{}, c.local
			if allow {
				s.o.AllowCallback, want = named, c.named
			}
			_, err := s.o.allowed(c.url)
			if (err == nil) != want {
				t.Errorf("%s, with settings %v: %v", c.url, allow, err)
			}
			if err != nil && (strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), "/cb")) {
				t.Errorf("the error names the URL: %v", err)
			}
		}
	}
	f := newFixture(t, set{})
	if status, text := f.send("/invoke", f.invocation("c", "look", fields{"callback_url": "https://agent.example.com/cb"})); status != 403 || !strings.Contains(text, "agent.example.com") || strings.Contains(text, "/cb") {
		t.Errorf("%d %s", status, text)
	}
	f.Server.o.AllowCallback = func(*url.URL) error { return errors.New("no") }
	status, text := f.send("/invoke", f.invocation("c", "look", fields{"callback_url": "https://agent.example.com/s3cret"}))
	if status != 403 || !strings.Contains(text, "add it to http.callback_hosts") || !strings.Contains(f.logged(), "agent.example.com") || strings.Contains(f.logged(), "s3cret") {
		t.Errorf("%d %s, log %s", status, text, f.logged())
	}
}

// TestAddresses: which address a name may turn out to have. A name on the internet that leads inside was turned.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		host, ip string
		want     bool
	}{
		{"localhost", "127.0.0.1", true}, {"localhost", "::1", true}, {"localhost", "10.0.0.1", false}, {"127.0.0.1", "127.0.0.1", true},
		{"agent.example.com", "93.184.216.34", true}, {"agent.example.com", "2606:2800:220:1::1", true},
		{"agent.example.com", "127.0.0.1", false}, {"agent.example.com", "::1", false}, {"agent.example.com", "10.1.2.3", false}, {"agent.example.com", "192.168.1.1", false},
		{"agent.example.com", "172.16.0.1", false}, {"agent.example.com", "169.254.169.254", false}, {"agent.example.com", "100.64.0.1", false}, {"agent.example.com", "0.0.0.0", false},
		{"agent.example.com", "fe80::1", false}, {"agent.example.com", "fd00::1", false}, {"agent.example.com", "::ffff:127.0.0.1", false}, {"agent.example.com", "64:ff9b::7f00:1", false},
		{"agent.example.com", "224.0.0.1", false}, {"agent.example.com", "255.255.255.255", false}, {"agent.example.com", "2002:7f00:1::", false},
		{"10.0.0.7", "10.0.0.7", true}, {"10.0.0.7", "10.0.0.8", false}, {"0.0.0.0", "0.0.0.0", false}, {"fd00::1", "fd00::1", true},
	} {
		if got := fits(c.host, netip.MustParseAddr(c.ip).Unmap()); got != c.want {
			t.Errorf("%s at %s: %v", c.host, c.ip, got)
		}
	}
	// the check is made of what is dialled, after resolution
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if conn, err := dial(context.Background(), "tcp", "localhost:"+port); err != nil {
		t.Errorf("localhost: %v", err)
	} else {
		conn.Close()
	}
	if _, err := dial(context.Background(), "tcp", "0.0.0.0:"+port); !errors.Is(err, errAddress) {
		t.Errorf("0.0.0.0: %v", err)
	}
	b := &outbox{o: &Options{AllowCallback: func(*url.URL) error { return nil }}, run: &run{ctx: context.Background()}, client: newClient(), pace: quick()}
	if why, again := b.attempt(message{to: address{Callback: "https://0.0.0.0:" + port}, body: []byte("{}")}); again || !strings.Contains(why, "address") {
		t.Errorf("%q, again %v", why, again)
	}
}

// TestNoProxyNoCredentials: a callback carries nothing of ours.
func TestNoProxyNoCredentials(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	f := newFixture(t, set{})
	f.invoke("c1", "look")
	for name := range f.result("c1").header {
		switch name {
		case "Content-Type", "Content-Length", "User-Agent":
		default:
			t.Errorf("header %s", name)
		}
	}
}

// TestLongSecretNotKept: the URL of a callback is in no record of the host, also where the call fails.
func TestSecretNotKept(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("c1", "look")
	f.invoke("c2", "none")
	f.invoke("c3", "write")
	f.answer(f.runtime.of("user_choice", "c3"), 0)
	for _, id := range []string{"c1", "c2", "c3"} {
		body, _ := json.Marshal(f.result(id).fields)
		if strings.Contains(string(body), "s3cret") {
			t.Errorf("%s tells of it", id)
		}
	}
	if strings.Contains(f.journal()+f.logged(), "s3cret") {
		t.Error("the record tells of it")
	}
}

// TestRoomPerPlace: calls and messages of a place that takes nothing leave room for the callbacks of others.
func TestRoomPerPlace(t *testing.T) {
	s := &Server{ledger: ledger{calls: map[key]*call{}}}
	add := func(n int) {
		for i := range n {
			a := address{Group: fmt.Sprint("g", i%8), ID: fmt.Sprint("c", i), Callback: fmt.Sprint("http://127.0.0.1:1/", i)}
			s.calls[a.key()] = &call{address: a}
		}
	}
	dead, other := address{Group: "x", Callback: "HTTP://127.0.0.1:1/x"}, address{Group: "x", Callback: "http://127.0.0.1:2/x"}
	add(maxPerHost - 1)
	if busy := s.openLocked(dead); busy != "" {
		t.Error(busy)
	}
	add(maxPerHost)
	if busy := s.openLocked(dead); !strings.Contains(busy, "128 of this callback's host") {
		t.Errorf("%q", busy)
	}
	if busy := s.openLocked(other); busy != "" {
		t.Error(busy)
	}

	b := &outbox{places: map[string]waiting{}}
	for _, c := range []struct {
		name        string
		messages    int
		bytes       int64
		dead, other string
	}{
		{"fewer", maxForPlace.messages - 1, 1, "", ""},
		{"messages", maxForPlace.messages, 1, "wait to be taken at the host of this callback", ""},
		{"bytes", 1, maxForPlace.bytes, "wait to be taken at the host of this callback", ""},
		{"more than all may", 2 * maxForAll.messages, 1, "of this callback", "wait to be taken at 1 hosts"},
	} {
		b.countLocked(dead.Callback, c.messages, c.bytes)
		for at, want := range map[string]string{dead.Callback: c.dead, other.Callback: c.other} {
			if got := b.full(at); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
		b.countLocked(dead.Callback, -c.messages, -c.bytes)
	}
	if len(b.places) != 0 || b.all != (waiting{}) {
		t.Error("a place is counted that owes nothing")
	}
}

// TestEndedCallsAreNotOpen: calls whose results wait for a callback that refuses connections keep no room for others, until so many wait that
// their place is full. What is refused then is told what waits, and every other callback has its results.
func TestEndedCallsAreNotOpen(t *testing.T) {
	p := quick()
	p.closing = 0 // what goes to the dead one is left
	f := newFixture(t, set{pace: p})
	gone := httptest.NewServer(nil)
	gone.Close()
	for i := range maxForPlace.messages {
		f.invoke(fmt.Sprint("c", i), "look", fields{"callback_url": gone.URL + "/s3cret"})
		f.until("it has ended", func() bool { return f.outbox.waiting("g") == i+1 })
	}
	f.until("one was tried", func() bool { return strings.Contains(f.outbox.full(gone.URL), "nobody listens there") })
	status, text := f.send("/invoke", f.invocation("more", "look", fields{"callback_url": gone.URL + "/s3cret"}))
	if status != 503 || !strings.Contains(text, "512 results and other messages") || !strings.Contains(text, "nobody listens there") || strings.Contains(text, "s3cret") {
		t.Errorf("%d %q", status, text)
	}
	f.invoke("live", "look")
	f.result("live")
}
