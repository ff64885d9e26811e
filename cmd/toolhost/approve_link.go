package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/wire/socket"
	"toolhost/wire/stdio"
)

// link is a connection to a running session, over which its prompts come and answers go. Everything that the session says is
// taken by one goroutine, so that events keep their order.
type link struct {
	conn  net.Conn
	tell  func(any)
	heard func()                     // called once its first prompts are told, or it turned out that there are none to be had
	match func(approve.Session) bool // whether the session is meant; nil: it is

	// Of the goroutine that reads:
	session    approve.Session               // as it greeted last
	open       map[agenttool.DecisionID]told // prompts that were told and have not ended
	ended      error                         // why it is to end
	complained bool                          // that it does not say what it asks

	mu      sync.Mutex
	name    string                               // the id of the session
	told    bool                                 // it tells what it asks by itself
	code    string                               // that the person typed
	asked   int                                  // requests so far
	waiting map[int]func(json.RawMessage, error) // what becomes of their answers
}

// How long a session may take to take an answer, and how often it is asked anew what waits: to those who may not answer it tells
// nothing by itself, and to the others something may not have been told.
const (
	answerLimit  = 10 * time.Second
	refreshEvery = 2 * time.Second
	refreshTold  = 20 * time.Second
)

var (
	errNotMeant = errors.New("this session is not meant")
	errGone     = errors.New("the session has ended, or cannot be reached any more")
)

// openLink connects to the session at path.
func openLink(path string) (*link, error) {
	conn, err := socket.Dial(path)
	if err != nil {
		return nil, err
	}
	return &link{conn: conn, open: map[agenttool.DecisionID]told{}, waiting: map[int]func(json.RawMessage, error){}}, nil
}

// serve tells what the session says until ctx or the connection ends. The error says why, nil if it was ctx.
func (l *link) serve(ctx context.Context) error {
	var refreshing sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	defer func() {
		stop()
		cancel()
		_ = l.conn.Close()
		refreshing.Wait()
		l.fail()
		l.heard()
	}()
	_ = l.conn.SetReadDeadline(time.Now().Add(lookLimit)) // until it has greeted
	if l.match == nil {
		l.greet(false, nil)
	} else {
		l.probe()
	}
	refreshing.Go(func() { l.refreshing(ctx) })
	err := l.read()
	if ctx.Err() != nil {
		return nil
	}
	if l.session.ID != "" {
		l.tell(approve.Closed{Session: l.session.ID, Why: errGone.Error()})
	}
	return err
}

// refreshing asks anew now and then, until ctx ends.
func (l *link) refreshing(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		due := l.name != "" && (!l.told || time.Since(last) >= refreshTold)
		l.mu.Unlock()
		if due {
			last = time.Now()
			l.list()
		}
	}
}

// read takes lines until the connection ends.
func (l *link) read() error {
	lines := bufio.NewScanner(l.conn)
	lines.Buffer(make([]byte, 0, 64<<10), stdio.MaxLine)
	for lines.Scan() {
		if l.take(lines.Bytes()); l.ended != nil {
			return l.ended
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("whoever listens there does not answer as a session")
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("the session sent a line of more than %d bytes", stdio.MaxLine)
	}
	return errGone
}

// take takes one line: an event, or the answer to a request.
func (l *link) take(line []byte) {
	var m struct {
		ID     *int            `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *stdio.Error    `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		l.ended = fmt.Errorf("the session sent a line that is not JSON: %w", err)
		return
	}
	if m.Method == "agenttool/event" {
		l.event(m.Params)
		return
	}
	if m.Method != "" || m.ID == nil {
		return
	}
	l.mu.Lock()
	answered := l.waiting[*m.ID]
	delete(l.waiting, *m.ID)
	l.mu.Unlock()
	switch {
	case answered == nil:
	case m.Error != nil:
		answered(nil, m.Error)
	default:
		answered(m.Result, nil)
	}
}

// ask sends a request. answered is called with its answer by the reading goroutine, or with an error when the connection has
// ended.
func (l *link) ask(method string, params any, answered func(json.RawMessage, error)) {
	if err := l.send(method, params, answered); err != nil {
		answered(nil, err)
	}
}

func (l *link) send(method string, params any, answered func(json.RawMessage, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		return errGone
	}
	l.asked++
	request, err := agenttool.Encode(map[string]any{"jsonrpc": "2.0", "id": l.asked, "method": method, "params": params})
	if err != nil {
		return err
	}
	l.waiting[l.asked] = answered
	_ = l.conn.SetWriteDeadline(time.Now().Add(lookLimit))
	if _, err := l.conn.Write(append(request, '\n')); err != nil {
		_ = l.conn.Close() // the reading goroutine ends, and fails what waits
	}
	return nil
}

// fail ends what waits for an answer.
func (l *link) fail() {
	l.mu.Lock()
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, answered := range waiting {
		answered(nil, errGone)
	}
}

// answer sends an answer and returns when it counts.
func (l *link) answer(a approve.Answer) error {
	said := make(chan error, 1)
	l.ask("agenttool/decide", a, func(_ json.RawMessage, err error) { said <- err })
	return l.await(said)
}

// say says the code that the person read off the session.
func (l *link) say(code string) error {
	l.mu.Lock()
	l.code = code
	l.mu.Unlock()
	said := make(chan error, 1)
	l.greet(true, func(err error) { said <- err })
	return l.await(said)
}

// id is the id of the session, empty before it greeted.
func (l *link) id() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name
}

func (l *link) await(said <-chan error) error {
	timer := time.NewTimer(answerLimit)
	defer timer.Stop()
	select {
	case err := <-said:
		if err != nil {
			l.list() // what is on the screen may not be what waits
		}
		return err
	case <-timer.C:
		return fmt.Errorf("the session said nothing for %v; it is not known whether this counted", answerLimit)
	}
}
