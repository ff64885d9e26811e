package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/socket"
	"toolhost/wire/stdio"
)

// conn is a connection to a running session. It receives prompts and sends answers. One goroutine reads it, so events keep their
// order.
type conn struct {
	net   net.Conn
	event func(any)
	ready func()                     // called when the first prompts were reported, or cannot be had
	match func(approve.Session) bool // whether to follow the session; nil: yes

	// Of the goroutine that reads:
	greeting   approve.Session                 // the session's last greeting
	open       map[agenttool.DecisionID]prompt // reported prompts that have not ended
	failed     error                           // why the connection is to end
	listFailed bool                            // an error of listing prompts was reported

	mu       sync.Mutex
	id       string                               // of the session; empty before it greeted
	pushes   bool                                 // the session sends its prompts without a request
	code     string                               // the code that the person typed
	requests int                                  // sent so far
	pending  map[int]func(json.RawMessage, error) // called with the response to a request
}

// How long a session may take to accept an answer, and how often its prompts are listed anew: a session sends prompts only to those
// who may answer, and one of them may have been lost.
const (
	answerTimeout = 10 * time.Second
	refreshEvery  = 2 * time.Second
	refreshPushed = 20 * time.Second
)

var (
	errExcluded = errors.New("this session is not meant")
	errEnded    = errors.New("the session has ended, or cannot be reached any more")
)

// dial connects to the session at path.
func dial(path string) (*conn, error) {
	network, err := socket.Dial(path)
	if err != nil {
		return nil, err
	}
	return &conn{net: network, open: map[agenttool.DecisionID]prompt{}, pending: map[int]func(json.RawMessage, error){}}, nil
}

// serve reports what the session sends until ctx or the connection ends. The error is nil if ctx ended.
func (c *conn) serve(ctx context.Context) error {
	var refresher sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = c.net.Close() })
	defer func() {
		stop()
		cancel()
		_ = c.net.Close()
		refresher.Wait()
		c.abandon()
		c.ready()
	}()
	_ = c.net.SetReadDeadline(time.Now().Add(sockets.GreetTimeout)) // for the greeting
	if c.match == nil {
		c.greet(false, nil)
	} else {
		c.probe()
	}
	refresher.Go(func() { c.refresh(ctx) })
	err := c.read()
	if ctx.Err() != nil {
		return nil
	}
	if c.greeting.ID != "" {
		c.event(approve.Closed{Session: c.greeting.ID, Why: errEnded.Error()})
	}
	return err
}

// refresh lists the prompts now and then, until ctx ends.
func (c *conn) refresh(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		due := c.id != "" && (!c.pushes || time.Since(last) >= refreshPushed)
		c.mu.Unlock()
		if due {
			last = time.Now()
			c.list()
		}
	}
}

// read handles lines until the connection ends.
func (c *conn) read() error {
	lines := bufio.NewScanner(c.net)
	lines.Buffer(make([]byte, 0, 64<<10), stdio.MaxLine)
	for lines.Scan() {
		if c.receive(lines.Bytes()); c.failed != nil {
			return c.failed
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the process that listens there does not answer as a session")
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("the session sent a line of more than %d bytes", stdio.MaxLine)
	}
	return errEnded
}

// receive handles one line: a notification, or the response to a request.
func (c *conn) receive(line []byte) {
	var m struct {
		ID     *int            `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *stdio.Error    `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		c.failed = fmt.Errorf("the session sent a line that is not JSON: %w", err)
		return
	}
	if m.Method == "agenttool/event" {
		c.notified(m.Params)
		return
	}
	if m.Method != "" || m.ID == nil {
		return
	}
	c.mu.Lock()
	done := c.pending[*m.ID]
	delete(c.pending, *m.ID)
	c.mu.Unlock()
	switch {
	case done == nil:
	case m.Error != nil:
		done(nil, m.Error)
	default:
		done(m.Result, nil)
	}
}

// request sends a request. done is called with the response by the reading goroutine, or with an error if the connection ends
// first.
func (c *conn) request(method string, params any, done func(json.RawMessage, error)) {
	if err := c.send(method, params, done); err != nil {
		done(nil, err)
	}
}

// decoded takes the response to a request, decodes the result into a value, and then calls done.
func decoded(into any, done func(error)) func(json.RawMessage, error) {
	return func(result json.RawMessage, err error) {
		if err == nil {
			err = json.Unmarshal(result, into)
		}
		done(err)
	}
}

func (c *conn) send(method string, params any, done func(json.RawMessage, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		return errEnded
	}
	c.requests++
	request, err := agenttool.Encode(map[string]any{"jsonrpc": "2.0", "id": c.requests, "method": method, "params": params})
	if err != nil {
		return err
	}
	c.pending[c.requests] = done
	_ = c.net.SetWriteDeadline(time.Now().Add(sockets.GreetTimeout))
	if _, err := c.net.Write(append(request, '\n')); err != nil {
		_ = c.net.Close() // the reading goroutine ends and abandons what is pending
	}
	return nil
}

// abandon fails all pending requests.
func (c *conn) abandon() {
	c.mu.Lock()
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, done := range pending {
		done(nil, errEnded)
	}
}

// answer sends an answer and returns when the session accepted it.
func (c *conn) answer(a approve.Answer) error {
	return c.await(func(done func(error)) {
		c.request("agenttool/decide", a, func(_ json.RawMessage, err error) { done(err) })
	})
}

// ask sends a request and reads its result.
func (c *conn) ask(method string, params, into any) error {
	return c.await(func(done func(error)) { c.request(method, params, decoded(into, done)) })
}

// setMode changes the session's mode and returns when it is in force.
func (c *conn) setMode(mode, code string) error {
	params := map[string]string{"mode": mode}
	if code != "" {
		params["code"] = code
	}
	return c.await(func(done func(error)) {
		c.request("agenttool/mode", params, func(_ json.RawMessage, err error) {
			if err == nil {
				c.greeting.Mode = mode
				c.event(approve.Opened{Session: c.greeting})
			}
			done(err)
		})
	})
}

// sendCode greets again with the code that the person read off the session.
func (c *conn) sendCode(code string) error {
	c.mu.Lock()
	c.code = code
	c.mu.Unlock()
	return c.await(func(done func(error)) { c.greet(true, done) })
}

// session is the id of the session, empty before it greeted.
func (c *conn) session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// await starts something and returns when it is done.
func (c *conn) await(start func(done func(error))) error {
	result := make(chan error, 1)
	start(func(err error) { result <- err })
	select {
	case err := <-result:
		if err != nil {
			c.list() // the prompts on the screen may be outdated
		}
		return err
	case <-time.After(answerTimeout):
		return fmt.Errorf("the session said nothing for %v; it is not known whether this counted", answerTimeout)
	}
}
