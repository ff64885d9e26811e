package http

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/testdata/support/conform"
)

// eventBatch is one event of a stream.
type eventBatch struct {
	id      int64
	event   string
	data    string
	comment string
}

// hear opens a stream.
func (w *world) hear(query string, headers ...string) (*bufio.Reader, func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	r, err := nethttp.NewRequestWithContext(ctx, "GET", w.s.URL()+"/events"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &nethttp.Transport{}
	a, err := (&nethttp.Client{Transport: transport}).Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/event-stream" || a.Header.Get("Toolhost-Session") == "" {
		w.t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	var once sync.Once
	leave := func() { once.Do(func() { cancel(); a.Body.Close(); transport.CloseIdleConnections() }) }
	w.t.Cleanup(leave)
	return bufio.NewReader(a.Body), leave
}

// next reads one event or comment; false: the stream ended.
func next(t testing.TB, r *bufio.Reader) (e eventBatch, ok bool) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return e, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			if e.id, err = strconv.ParseInt(value, 10, 64); err != nil {
				t.Fatal(err)
			}
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "":
			if value == "" {
				return e, true
			}
			e.comment = value
		default:
			t.Fatalf("a line that is none of a stream: %q", line)
		}
	}
}

// events reads the next n events, without comments.
func events(t testing.TB, r *bufio.Reader, n int) []eventBatch {
	t.Helper()
	var list []eventBatch
	var comment string // the last one
	for len(list) < n {
		e, ok := next(t, r)
		if !ok {
			t.Fatalf("the stream ended after %d of %d events; its last comment: %q", len(list), n, comment)
		}
		if comment = cmp.Or(e.comment, comment); e.comment == "" {
			list = append(list, e)
		}
	}
	return list
}

func TestEventsAreTheJournals(t *testing.T) {
	w := newWorld(t, nil)
	r, leave := w.hear("")
	if e, ok := next(t, r); !ok || !strings.Contains(e.comment, string(w.s.o.Session)) {
		t.Fatalf("%+v, %v", e, ok)
	}
	w.call("a", 3, "")
	live := events(t, r, 15)
	for _, e := range live {
		var event agenttool.Event
		if err := json.Unmarshal([]byte(e.data), &event); err != nil || string(event.EventType) != e.event {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	leave()
	r, _ = w.hear("", "Last-Event-ID", strconv.FormatInt(live[4].id, 10))
	if again := events(t, r, 10); !slices.Equal(again, live[5:15]) {
		t.Errorf("again: %v\nbefore: %v", again, live[5:15])
	}
	eventually(t, "the first has left", func() bool { return len(w.s.streams) == 1 })
}

// TestLevelsAgree: what is replayed is what would have been told, at every level.
func TestLevelsAgree(t *testing.T) {
	for _, level := range []string{"results", "progress", "all"} {
		t.Run(level, func(t *testing.T) {
			w := newWorld(t, nil)
			r, _ := w.hear("?level=" + level)
			w.call("a", 4, "")
			if err := w.host.SetMode("plan", host.ByClient); err != nil {
				t.Fatal(err)
			}
			w.call("b", 1, "")
			live := events(t, r, 5)
			for live[len(live)-1].event != string(agenttool.EventResultCreated) || results(live) < 5 {
				live = append(live, events(t, r, 1)...)
			}
			r, _ = w.hear("?level="+level, "Last-Event-ID", "0")
			replayed := events(t, r, 1)
			for replayed[len(replayed)-1].id < live[len(live)-1].id {
				replayed = append(replayed, events(t, r, 1)...)
			}
			first := slices.IndexFunc(replayed, func(e eventBatch) bool { return e.id == live[0].id })
			if first < 0 || !slices.Equal(replayed[first:], live) {
				t.Errorf("replayed %d events from %d, told %d", len(replayed), first, len(live))
			}
		})
	}
}

func results(list []eventBatch) (n int) {
	for _, e := range list {
		if e.event == string(agenttool.EventResultCreated) {
			n++
		}
	}
	return n
}

// TestResume leaves and comes again while calls are made: no event is missed, none comes twice.
func TestResume(t *testing.T) {
	conform.Held(t, "AT-014")
	w := newWorld(t, func(_ *Options, l *limits) { l.page = 7 })
	w.call("before", 1, "")
	var calls sync.WaitGroup
	for g := range 2 {
		calls.Go(func() { w.call(fmt.Sprintf("g%d-", g), 60, "") })
	}
	defer calls.Wait()
	last, seen := int64(0), 0
	for seen < 121 {
		r, leave := w.hear("", "Last-Event-ID", strconv.FormatInt(last, 10))
		for range 100 {
			e := events(t, r, 1)[0]
			if e.id != last+1 {
				t.Fatalf("event %d comes after %d", e.id, last)
			}
			if last = e.id; e.event == string(agenttool.EventResultCreated) {
				seen++
			}
			if seen == 121 {
				break
			}
		}
		leave()
	}
}

func TestEventRequests(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range map[string]struct {
		query, last string
		status      int
	}{
		"a level that is none":  {"?level=none", "", 400},
		"a seq that is none":    {"", "abc", 400},
		"a seq before all":      {"", "-1", 400},
		"a seq too large":       {"", "99999999999999999999", 400},
		"a query that is junk":  {"?level=%zz;&level=\x7f", "", 400},
		"a level that is wrong": {"?level=All", "", 400},
	} {
		r := httptest.NewRequest("GET", "/events", nil)
		r.URL.RawQuery = strings.TrimPrefix(c.query, "?")
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Host = "localhost"
		if c.last != "" {
			r.Header.Set("Last-Event-ID", c.last)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := httptest.NewRecorder()
		w.s.handler(ctx).ServeHTTP(a, r)
		if a.Code != c.status && !strings.Contains(name, "junk") {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
}

func TestEventsGone(t *testing.T) {
	h, session := testHost(t, true)
	w := newWorld(t, func(o *Options, _ *limits) { o.Host, o.Session = h, session })
	w.host = h
	gone := false
	for i := 0; i < 40 && !gone; i++ {
		w.call(fmt.Sprint(i, "-"), 100, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/events", nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Last-Event-ID", "1")
		r.Host = "localhost"
		w.s.handler(ctx).ServeHTTP(a, r)
		if gone = a.Code == 410; gone && code(t, a.Body.String()) != "events_gone" {
			t.Errorf("%s", a.Body)
		}
	}
	if !gone {
		t.Error("the session kept every event: the test shows nothing")
	}
}

func TestHeartbeat(t *testing.T) {
	w := newWorld(t, func(_ *Options, l *limits) { l.beat = 20 * time.Millisecond })
	r, _ := w.hear("")
	for range 3 {
		if e, ok := next(t, r); !ok || e.comment == "" {
			t.Fatalf("%+v %v", e, ok)
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	w := newWorld(t, func(_ *Options, l *limits) { l.streams = 1 })
	_, leave := w.hear("")
	if status, body := w.mustAsk("GET", "/events", nil); status != 429 || code(t, body) != "too_many_streams" {
		t.Errorf("%d %s", status, body)
	}
	leave()
	eventually(t, "its place is free", func() bool { return len(w.s.streams) == 0 })
	w.hear("")
}

func TestFeedHasNoGap(t *testing.T) {
	f := newFeed(200)
	for i := range int64(100) {
		f.tell(host.Notice{Seq: i + 1, Type: "x", Event: []byte(`{"some":"data"}`)})
	}
	kept, full := f.take()
	if !full || len(kept) > 300 || !strings.HasPrefix(string(kept), "id: 1\n") {
		t.Fatalf("%d bytes, full %v", len(kept), full)
	}
	for i, part := range strings.Split(strings.TrimSpace(string(kept)), "\n\n") {
		if !strings.HasPrefix(part, fmt.Sprintf("id: %d\n", i+1)) {
			t.Errorf("place %d has %q", i, part)
		}
	}
	f.tell(host.Notice{Seq: 101, Type: "x", Event: []byte(`{}`)})
	if kept, full := f.take(); len(kept) != 0 || !full {
		t.Errorf("after a gap it keeps %q", kept)
	}
}

func TestEventIsOneLine(t *testing.T) {
	for event, want := range map[string]string{
		`{"a":"b"}`:         "id: 1\nevent: x\ndata: {\"a\":\"b\"}\n\n",
		"{\"a\":\r\n\"b\"}": "id: 1\nevent: x\ndata: {\"a\":\"b\"}\n\n",
		"a\nid: 7":          "",
	} {
		if got := string(appendEvent(nil, 1, "x", []byte(event))); got != want {
			t.Errorf("%q is written as %q", event, got)
		}
	}
}

// valve is a client that reads nothing until it is opened.
type valve struct {
	*httptest.ResponseRecorder
	open, first chan struct{}
	once        sync.Once
}

func (g *valve) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), "id: ") {
		g.once.Do(func() { close(g.first) })
		<-g.open
	}
	return g.ResponseRecorder.Write(b)
}

func (g *valve) Unwrap() nethttp.ResponseWriter { return g.ResponseRecorder }

// TestSlowReader: the host does not wait for it, it hears that it is too slow, and it can go on where it was.
func TestSlowReader(t *testing.T) {
	w := newWorld(t, func(_ *Options, l *limits) { l.queue = 4 << 10 })
	g := &valve{ResponseRecorder: httptest.NewRecorder(), open: make(chan struct{}), first: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequest("GET", "/events", nil)
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Host = "localhost"
		w.s.handler(t.Context()).ServeHTTP(g, r)
	}()
	eventually(t, "it hears", func() bool { return len(w.s.streams) == 1 })
	eventually(t, "it is told of one", func() bool {
		w.call("first"+strconv.FormatInt(time.Now().UnixNano(), 10), 1, "")
		select {
		case <-g.first:
			return true
		default:
			return false
		}
	})
	w.call("more", 50, "") // does not return if the host waits
	close(g.open)
	<-ended
	r := bufio.NewReader(strings.NewReader(g.Body.String()))
	var last eventBatch
	var lastID int64
	for e, ok := next(t, r); ok; e, ok = next(t, r) {
		if e.id != 0 {
			if lastID != 0 && e.id != lastID+1 {
				t.Fatalf("event %d comes after %d", e.id, lastID)
			}
			lastID = e.id
		}
		last = e
	}
	if !strings.Contains(last.comment, "too slow") {
		t.Errorf("it ends with %+v", last)
	}
	stream, _ := w.hear("", "Last-Event-ID", strconv.FormatInt(lastID, 10))
	if e := events(t, stream, 1)[0]; e.id != lastID+1 {
		t.Errorf("it goes on with %d after %d", e.id, lastID)
	}
}

// TestDeadReader has a client that opens a stream and never reads: it is dropped, and calls go on meanwhile.
func TestDeadReader(t *testing.T) {
	w := newWorld(t, func(_ *Options, l *limits) { l.write = 300 * time.Millisecond })
	c := w.dial()
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", testToken)
	eventually(t, "it hears", func() bool { return len(w.s.streams) == 1 })
	dropped := time.Now()
	pad, calls := strings.Repeat("x", 3000), 0
	for ; len(w.s.streams) == 1 && calls < 5000; calls++ {
		w.call(fmt.Sprintf("c%d-", calls), 1, pad)
	}
	t.Logf("dropped after %d calls, %s", calls, time.Since(dropped))
	eventually(t, "it is dropped", func() bool { return len(w.s.streams) == 0 })
	eventually(t, "its connection is closed", func() bool {
		w.s.conns.mu.Lock()
		defer w.s.conns.mu.Unlock()
		return len(w.s.conns.open) == 0
	})
	w.call("after", 1, "")
}
