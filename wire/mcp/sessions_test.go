package mcp

import (
	"net/http"
	"testing"
	"time"
)

// TestSessionsAreBounded: clients that begin sessions and leave cannot fill the memory, nor lock others out: the session
// that was idle longest is ended (F7).
func TestSessionsAreBounded(t *testing.T) {
	tool, started, canceled := hanging()
	f := newFixture(t, adding(tool))
	url := f.serveHTTP().URL
	list := []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	status := func(id string) int {
		res, _ := post(t, url, list, headerSession, id)
		return res.StatusCode
	}
	busy := initializing(t, url)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		post(t, url, []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hang","arguments":{}}}`), headerSession, busy)
	}()
	<-started
	used, idle := initializing(t, url), initializing(t, url)
	for range maxSessions - 3 {
		initializing(t, url)
	}
	if status(used) != 200 {
		t.Fatal("the session is not served")
	}
	for range 10 {
		initializing(t, url)
	}
	if n := f.sessions(); n != maxSessions {
		t.Errorf("%d sessions", n)
	}
	if status(busy) != 200 || status(used) != 200 || status(idle) != 404 {
		t.Errorf("with a call %d, used lately %d, idle %d", status(busy), status(used), status(idle))
	}
	if res, _ := post(t, url, modernBody("tools/list", map[string]any{}), headerVersion, firstStateless, "Mcp-Method", "tools/list"); res.StatusCode != 200 {
		t.Errorf("a request without a session: status %d", res.StatusCode)
	}
	endSession(t, url, busy)
	<-canceled
	<-gone
}

// sessions returns how many sessions there are that have a name.
func (f *fixture) sessions() int {
	n := 0
	for one := range f.sdk.Sessions() {
		if one.ID() != "" {
			n++
		}
	}
	return n
}

// TestIdlest: the session that is ended is one that does nothing.
func TestIdlest(t *testing.T) {
	now := time.Now()
	a := func(requests, streams, ago int) *activity {
		return &activity{requests, streams, now.Add(-time.Duration(ago) * time.Second)}
	}
	for _, tt := range []struct {
		name string
		all  map[string]*activity
		want string
	}{
		{"none", nil, ""},
		{"all are busy", map[string]*activity{"a": a(1, 0, 9), "calls": a(0, 0, 9)}, ""},
		{"the oldest", map[string]*activity{"a": a(0, 0, 1), "b": a(0, 0, 3), "c": a(0, 0, 2), "d": a(2, 0, 9)}, "b"},
		{"one that nobody listens to", map[string]*activity{"a": a(0, 1, 9), "b": a(0, 0, 1)}, "b"},
		{"the oldest of those that listen", map[string]*activity{"a": a(0, 1, 9), "b": a(0, 2, 1)}, "a"},
	} {
		ss := sessions{all: tt.all}
		if got := ss.idlest(func(id string) bool { return id == "calls" }); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSessionActivity: requests and streams are counted while they are served, of sessions that began.
func TestSessionActivity(t *testing.T) {
	var ss sessions
	request := func(method, id string) *http.Request {
		return &http.Request{Method: method, Header: http.Header{headerSession: {id}}}
	}
	ss.note("a")
	one, two, none := ss.serve(request("POST", "a")), ss.serve(request("GET", "a")), ss.serve(request("POST", "b"))
	if a := ss.all["a"]; a.requests != 1 || a.streams != 1 || len(ss.all) != 1 {
		t.Errorf("%+v", ss.all)
	}
	one()
	two()
	none()
	ss.note("a")
	if a := ss.all["a"]; a.requests != 0 || a.streams != 0 {
		t.Errorf("%+v", a)
	}
}
