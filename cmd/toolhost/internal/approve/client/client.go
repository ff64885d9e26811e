// Package client follows the running sessions of this user: it finds their sockets, reports what they ask as the events of package
// approve, and sends answers to them.
package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/stdio"
)

// Options select the sessions that a client follows, and the receiver of their events.
type Options struct {
	// Session is the end of the id of the one session to follow, or [sockets.Newest]; empty: all.
	Session string

	// Event takes events: those of package approve. It is called from several goroutines; the events of one session come in order.
	Event func(any)

	// Once is for callers that stop after the first prompts: sessions do not wait for the client.
	Once bool

	// Dirs are the directories that sockets can be in; nil: those of this user.
	Dirs []string
}

// Client is connected to running sessions. It is an [approve.Answerer].
type Client struct {
	o Options

	mu        sync.Mutex
	endpoints map[string]*endpoint // by the path of the socket
	following sync.WaitGroup
}

// endpoint is the state of one socket.
type endpoint struct {
	busy      bool      // a goroutine follows it
	conn      *conn     // nil: there is no connection
	excluded  bool      // its session is not the one to follow
	lastError string    // the last trouble that was reported
	retry     time.Time // not tried again before
}

// New returns a client that follows nothing yet.
func New(o Options) *Client {
	if o.Dirs == nil {
		o.Dirs = dirs.Sockets()
	}
	return &Client{o: o, endpoints: map[string]*endpoint{}}
}

// Run follows sessions until ctx ends.
func (c *Client) Run(ctx context.Context) {
	defer c.following.Wait()
	var first sync.WaitGroup
	c.scan(ctx, &first)
	c.following.Go(func() {
		first.Wait()
		c.o.Event(approve.Complete{})
	})
	if !c.o.Once && (c.o.Session == "" || c.o.Session == sockets.Newest) { // sessions cannot tell whether they are the chosen one
		defer presence.Hold()()
	}
	changes, w := watchDirs(c.o.Dirs)
	defer w.close()
	tick := time.NewTicker(time.Second) // finds sockets that the system does not report
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-tick.C:
			w.add()
		}
		c.scan(ctx, nil)
	}
}

// scan connects to new sockets. first, if any, waits for the first prompts of each.
func (c *Client) scan(ctx context.Context, first *sync.WaitGroup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range c.candidates(sockets.Paths(c.o.Dirs), time.Now()) {
		ready := func() {}
		if first != nil {
			first.Add(1)
			ready = sync.OnceFunc(first.Done)
		}
		c.endpoints[path].busy = true
		c.following.Go(func() { c.follow(ctx, path, ready) })
	}
}

// candidates are the sockets to connect to. The caller holds mu.
func (c *Client) candidates(paths []string, now time.Time) (free []string) {
	busy := false
	for path, e := range c.endpoints {
		busy = busy || e.busy
		if !e.busy && !slices.Contains(paths, path) {
			delete(c.endpoints, path)
		}
	}
	for _, path := range paths {
		if c.endpoints[path] == nil {
			c.endpoints[path] = &endpoint{}
		}
		if e := c.endpoints[path]; !e.busy && !e.excluded && !now.Before(e.retry) {
			free = append(free, path)
		}
	}
	switch {
	case c.o.Session != sockets.Newest || len(free) == 0:
		return free
	case busy:
		return nil
	}
	return []string{slices.MaxFunc(free, func(a, b string) int { return sockets.Made(a).Compare(sockets.Made(b)) })}
}

// follow serves the session of one socket until it ends.
func (c *Client) follow(ctx context.Context, path string, ready func()) {
	s, err := dial(path)
	if err == nil {
		s.event, s.ready = c.o.Event, ready
		if c.o.Session != "" && c.o.Session != sockets.Newest {
			s.match = func(s approve.Session) bool { return sockets.Matches(s.ID, c.o.Session) }
		}
		c.mu.Lock()
		c.endpoints[path].conn = s
		c.mu.Unlock()
		err = s.serve(ctx)
	}
	ready()
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.endpoints[path]
	e.busy, e.conn, e.excluded = false, nil, errors.Is(err, errExcluded)
	if err == nil || e.excluded || errors.Is(err, errEnded) || errors.Is(err, os.ErrNotExist) {
		return
	}
	text := fmt.Sprintf("%s: %v", path, err)
	if e.retry = time.Now().Add(retryAfter); e.lastError != text {
		e.lastError = text
		c.following.Go(func() { c.o.Event(approve.Trouble{Text: text}) })
	}
}

// retryAfter is how long a socket is left alone after an error.
const retryAfter = 5 * time.Second

// Answer sends an answer to its session and returns when it counts.
func (c *Client) Answer(a approve.Answer) error {
	return c.with(a.Session, func(s *conn) error { return s.answer(a) })
}

// Code sends the code that a session shows to that session.
func (c *Client) Code(session, code string) error {
	return c.with(session, func(s *conn) error { return s.sendCode(code) })
}

// Mode changes the mode of a session. A looser one takes the code that the session then shows.
func (c *Client) Mode(session, mode, code string) error {
	return c.with(session, func(s *conn) error { return s.setMode(mode, code) })
}

// Try asks a session for the coverage of rules.
func (c *Client) Try(session string, id agenttool.DecisionID, rules []string) (t approve.Trial, err error) {
	err = c.with(session, func(s *conn) error {
		return s.ask("agenttool/try", map[string]any{"decision_id": id, "rules": rules}, &t)
	})
	if refused, ok := errors.AsType[*stdio.Error](err); ok {
		err = errors.New(strings.TrimPrefix(refused.Message, "invalid params: "))
	}
	return t, err
}

// Activity asks a session for its running calls and its last denials.
func (c *Client) Activity(session string) (a approve.Activity, err error) {
	err = c.with(session, func(s *conn) error { return s.ask("agenttool/status", struct{}{}, &a) })
	a.Session = session
	return a, err
}

// with does something with the connection to a session.
func (c *Client) with(session string, do func(*conn) error) error {
	s := c.conn(session)
	if s == nil {
		return errEnded
	}
	return do(s)
}

// conn is the connection to a session; nil if there is none.
func (c *Client) conn(session string) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.endpoints {
		if e.conn != nil && e.conn.session() == session {
			return e.conn
		}
	}
	return nil
}
