package mcp

import (
	"iter"
	"maps"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are the sessions of older clients over HTTP, with their activity. The zero value has none.
type sessions struct {
	mu  sync.Mutex
	all map[string]*activity
}

// activity counts the requests and streams of a session.
type activity struct {
	requests int       // that are being served
	streams  int       // open ones, for messages that the server sends by itself
	used     time.Time // when a request or a stream of it began or ended last
}

// note takes a session that has begun.
func (ss *sessions) note(id string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.all == nil {
		ss.all = map[string]*activity{}
	}
	if ss.all[id] == nil {
		ss.all[id] = &activity{used: time.Now()}
	}
}

// serve notes that a request of a session is being served, until done is called.
func (ss *sessions) serve(r *http.Request) (done func()) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	a := ss.all[r.Header.Get(headerSession)]
	if a == nil {
		return func() {}
	}
	count := &a.requests
	if r.Method == http.MethodGet {
		count = &a.streams
	}
	a.used = time.Now()
	*count++
	return func() {
		ss.mu.Lock()
		defer ss.mu.Unlock()
		a.used = time.Now()
		*count--
	}
}

// idlest is the least recently used of the idle sessions, those without a stream first; empty: there is none. ss.mu is
// held.
func (ss *sessions) idlest(busy func(id string) bool) string {
	found := ""
	for id, a := range ss.all {
		if a.requests == 0 && !busy(id) && (found == "" || a.idler(ss.all[found])) {
			found = id
		}
	}
	return found
}

func (a *activity) idler(b *activity) bool {
	if listens := a.streams > 0; listens != (b.streams > 0) {
		return !listens
	}
	return a.used.Before(b.used)
}

// makeRoom reports whether another session may begin. Where there are as many as there may be, it ends the one that was
// idle longest.
func (ss *sessions) makeRoom(all iter.Seq[*sdk.ServerSession], busy func(id string) bool) bool {
	open, id := ss.surplus(all, busy)
	switch {
	case len(open) < maxSessions:
		return true
	case id == "":
		return false
	}
	_ = open[id].Close() // its client has most likely gone
	return true
}

// surplus returns the sessions by their ids and, if they are too many, which one is to be ended. Those that have ended are
// forgotten.
func (ss *sessions) surplus(all iter.Seq[*sdk.ServerSession], busy func(id string) bool) (open map[string]*sdk.ServerSession, id string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	open = map[string]*sdk.ServerSession{}
	for one := range all { // stateless requests and streams have some without an id
		if id := one.ID(); id != "" {
			open[id] = one
		}
	}
	maps.DeleteFunc(ss.all, func(id string, _ *activity) bool { return open[id] == nil })
	if len(open) >= maxSessions {
		id = ss.idlest(busy)
		delete(ss.all, id)
	}
	return open, id
}
