package http

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestVanishedClient leaves in the middle of a call, and in the middle of a body.
func TestVanishedClient(t *testing.T) {
	begun, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = mounts(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
			begun <- struct{}{}
			<-r.Context().Done()
			ended <- struct{}{}
		})
	})
	c := w.dial()
	fmt.Fprintf(c, "POST /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", testToken)
	<-begun
	c.Close()
	<-ended

	c = w.dial()
	fmt.Fprintf(c, "POST /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 20\r\n\r\n{", testToken)
	eventually(t, "the body is being read", func() bool { return w.held() == 20 })
	c.Close()
	eventually(t, "the request ends", func() bool { return w.held() == 0 })
	if len(begun) != 0 {
		t.Error("a handler got half a body")
	}
}

func (w *world) held() int64 { return w.s.bodies.held() }

// TestSlowClients are those that send a request, or its body, byte by byte or not at all.
func TestSlowClients(t *testing.T) {
	nothing := mounts(func(nethttp.ResponseWriter, *nethttp.Request) {})
	heads := newWorld(t, func(o *Options, l *limits) {
		l.header, l.body, l.idle, o.Mounts = 200*time.Millisecond, 500*time.Millisecond, 200*time.Millisecond, nothing
	})
	bodies := newWorld(t, func(o *Options, l *limits) { // where a head may take its time on a busy machine
		l.header, l.body, o.Mounts = hang, 500*time.Millisecond, nothing
	})
	allowed := "POST /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n"
	for _, c := range []struct {
		name, sent string
		status     int // 0: the connection ends without an answer
	}{
		{"nothing", "", 0},
		{"half a head", "POST /mount HTTP/1.1\r\nHost: loc", 0},
		{"a head without body", allowed + "Content-Length: 10\r\n\r\n", 408},
		{"half a body", allowed + "Content-Length: 10\r\n\r\n{", 408},
		{"a chunk that does not end", allowed + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", 408},
		{"no body and no token", "POST /mount HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n", 401},
		{"a body that is not ours to read", "POST /mount HTTP/1.1\r\nHost: evil.example\r\nTransfer-Encoding: chunked\r\n\r\n", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := bodies
			if c.status == 0 {
				w = heads
			}
			conn := w.dial()
			if _, err := io.WriteString(conn, strings.ReplaceAll(c.sent, "TOKEN", testToken)); err != nil {
				t.Fatal(err)
			}
			if c.status == 0 {
				if rest, _ := io.ReadAll(conn); len(rest) != 0 && !bytes.HasPrefix(rest, []byte("HTTP/1.1 408")) && !bytes.HasPrefix(rest, []byte("HTTP/1.1 400")) {
					t.Errorf("answered: %q", rest)
				}
				return
			}
			if r, body := w.answer(conn); r.StatusCode != c.status || code(t, body) == "" {
				t.Errorf("%d %s, want %d", r.StatusCode, body, c.status)
			}
		})
	}
}

// TestCallIsLongerThanReading: the bounds of sending a request do not cut off its answer.
func TestCallIsLongerThanReading(t *testing.T) {
	w := newWorld(t, func(o *Options, l *limits) {
		l.header, l.body, l.write = 2*time.Second, 2*time.Second, 2*time.Second
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			select {
			case <-time.After(2500 * time.Millisecond):
				_, _ = io.WriteString(w, "done")
			case <-r.Context().Done():
			}
		})
	})
	for _, method := range []string{"GET", "POST"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			if status, got := w.mustAsk(method, "/mount", strings.NewReader("{}")); status != 200 || got != "done" {
				t.Errorf("%d %q", status, got)
			}
		})
	}
}

func TestHugeHead(t *testing.T) {
	w := newWorld(t, nil)
	for name, head := range map[string]string{
		"one header":   "X: " + strings.Repeat("x", 20<<10) + "\r\n",
		"many headers": strings.Repeat("X: y\r\n", 5<<10),
	} {
		if r, _ := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + head + "\r\n"); r.StatusCode != 431 {
			t.Errorf("%s: %d, want 431", name, r.StatusCode)
		}
	}
}

// TestStrangersMakeRoom: who does not know the token cannot take all connections.
func TestStrangersMakeRoom(t *testing.T) {
	w := newWorld(t, func(o *Options, l *limits) {
		l.conns, l.spare, l.silent, l.header = 4, 2, 20*time.Millisecond, time.Minute
		o.Mounts = mounts(func(nethttp.ResponseWriter, *nethttp.Request) {})
	})
	for range 30 {
		fmt.Fprint(w.dial(), "GET / HTTP/1.1\r\n")
	}
	for range 3 {
		if status, body := w.mustAsk("GET", "/mount", nil); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	w.s.conns.mu.Lock()
	defer w.s.conns.mu.Unlock()
	if n := len(w.s.conns.open); n > 6 {
		t.Errorf("%d connections are open, want 6 at most", n)
	}
}

// TestCrowdIsSlow: a client that makes many connections and sends over the first of them last loses none, as long as the others show
// the token meanwhile.
func TestCrowdIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := defaultLimits()
		l.spare, l.silent = 3, time.Second
		all := newConnections(l)
		var crowd [12]chan *connection
		for i := range crowd {
			crowd[i] = make(chan *connection, 1)
		}
		go func() {
			for i := range crowd {
				_, far := net.Pipe()
				crowd[i] <- all.add(far)
			}
		}()
		for i := range crowd {
			c := <-crowd[(i+1)%len(crowd)]
			if err := c.SetDeadline(time.Time{}); err != nil || !all.prove(c) {
				t.Fatalf("connection %d of the crowd: %v", i, err)
			}
			time.Sleep(all.silent / 4)
		}
	})
}

func TestTooMany(t *testing.T) {
	begun, release := make(chan struct{}, 10), make(chan struct{})
	w := newWorld(t, func(o *Options, l *limits) {
		l.perClient, l.bodies, l.line = 3, 1000, 50*time.Millisecond
		o.MaxBody = 600
		o.Mounts = map[string]nethttp.Handler{
			"/quick": nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {}),
			"/slow": nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {
				begun <- struct{}{}
				<-release
			}),
		}
	})
	hold := func(length int) {
		fmt.Fprintf(w.dial(), "POST /slow HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", testToken, length, strings.Repeat("x", length))
		<-begun
	}
	defer close(release)
	quick := "POST /quick HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n"
	expect := func(head string, status int, want string) {
		t.Helper()
		r, body := w.raw(head)
		if r.StatusCode != status || status != 200 && (code(t, body) != want || r.Header.Get("Retry-After") == "") {
			t.Errorf("%d %s %v, want %d %s", r.StatusCode, body, r.Header, status, want)
		}
	}
	hold(600)
	expect(quick+"Content-Length: 500\r\n\r\n", 503, "too_much_at_once")
	expect(quick+"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 503, "too_much_at_once")
	expect(quick+"Content-Length: 2\r\n\r\n{}", 200, "")
	hold(1)
	hold(1)
	expect(quick+"\r\n", 429, "too_many_requests")
}

// TestTooManyConnections: who showed the token cannot take the last places either. A connection that is used in a crowd is not
// kept afterwards.
func TestTooManyConnections(t *testing.T) {
	begun, release := make(chan struct{}, 10), make(chan struct{})
	w := newWorld(t, func(o *Options, l *limits) {
		l.conns, l.spare = 4, 4
		o.Mounts = map[string]nethttp.Handler{
			"/quick": nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {}),
			"/slow": nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) {
				begun <- struct{}{}
				<-release
			}),
		}
	})
	quick := "GET /quick HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n\r\n"
	ask := func(ends bool) {
		t.Helper()
		if r, body := w.raw(quick); r.StatusCode != 200 || r.Close != ends {
			t.Fatalf("%d %t %s", r.StatusCode, r.Close, body)
		}
	}
	hold := func() {
		fmt.Fprintf(w.dial(), "GET /slow HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
		<-begun
	}
	ask(false) // and its connection stays open
	hold()
	hold()
	ask(true)
	eventually(t, "its place is free", func() bool { w.s.conns.mu.Lock(); defer w.s.conns.mu.Unlock(); return w.s.conns.proved == 3 })
	hold()
	if r, body := w.raw(quick); r.StatusCode != 503 || code(t, body) != "too_many_connections" || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	if r, _ := w.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); r.StatusCode != 200 {
		t.Errorf("healthz: %d", r.StatusCode)
	}
	close(release)
	eventually(t, "there is a place again", func() bool { r, _ := w.raw(quick); return r.StatusCode == 200 })
}

// TestBurst: 50 clients, each with a stream that stands and with 40 calls one after the other, get what they ask for, where far
// fewer are answered at once; and so do 300 that connect before the first of them says anything.
func TestBurst(t *testing.T) {
	w := newWorld(t, func(o *Options, l *limits) {
		l.perClient, l.standing, l.spare, l.silent, l.header = 8, 50, 64, hang, hang
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if r.Method == nethttp.MethodGet {
				_ = nethttp.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		})
	})
	transport := &nethttp.Transport{MaxIdleConnsPerHost: 50}
	defer transport.CloseIdleConnections()
	send := func(method string) (*nethttp.Response, error) {
		r, err := nethttp.NewRequestWithContext(t.Context(), method, w.s.URL()+"/mount", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Accept", "application/json, text/event-stream")
		return (&nethttp.Client{Transport: transport, Timeout: hang}).Do(r)
	}
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			for i := range 41 {
				method := "POST"
				if i == 0 {
					method = "GET"
				}
				r, err := send(method)
				if err != nil || r.StatusCode != 200 {
					t.Errorf("%s: %v %v", method, r, err)
					return
				}
				if i > 0 {
					r.Body.Close()
				} else {
					defer r.Body.Close()
				}
			}
		})
	}
	clients.Wait()
	var flood []net.Conn
	for range 300 {
		flood = append(flood, w.dial())
	}
	for _, c := range flood {
		fmt.Fprintf(c, "POST /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", testToken)
	}
	for _, c := range flood {
		if r, body := w.answer(c); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, body)
		}
	}
}

// TestStreamsAreBounded: streams that stand have a bound of their own, and calls go on beside them.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t, func(o *Options, l *limits) {
		l.perClient, l.standing = 1, 2
		o.Mounts = mounts(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if stands(r) {
				_ = nethttp.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		})
	})
	head := " /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n"
	listen := func(c net.Conn) {
		fmt.Fprint(c, strings.ReplaceAll("GET"+head+"Accept: text/event-stream\r\n\r\n", "TOKEN", testToken))
		if r, err := nethttp.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != 200 {
			t.Fatal(r, err)
		}
	}
	first, second := w.dial(), w.dial()
	listen(first)
	listen(second)
	if r, body := w.raw("POST" + head + "Mcp-Method: subscriptions/listen\r\nContent-Length: 2\r\n\r\n{}"); r.StatusCode != 429 || code(t, body) != "too_many_streams" {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	if r, body := w.raw("POST" + head + "Content-Length: 2\r\n\r\n{}"); r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// TestNeverReads: an answer that nobody reads does not hold its handler for ever.
func TestNeverReads(t *testing.T) {
	ended := make(chan error, 1)
	w := newWorld(t, func(o *Options, l *limits) {
		l.write = 200 * time.Millisecond
		o.Mounts = mounts(func(w nethttp.ResponseWriter, _ *nethttp.Request) { ended <- flood(w) })
	})
	fmt.Fprintf(w.dial(), "GET /mount HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
	select {
	case err := <-ended:
		if err == nil {
			t.Error("all was sent")
		}
	case <-time.After(hang):
		t.Fatal("the handler still writes")
	}
}

// flood writes more than any buffer of the system holds.
func flood(w io.Writer) error {
	piece := make([]byte, 1<<20)
	for range 64 {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}
