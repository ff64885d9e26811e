// Package wiretest is a client of the JSON lines that toolhost speaks, for tests, harnesses and benchmarks of the whole program. It speaks
// JSON-RPC 2.0 and leaves the methods to its users. It imports nothing of toolhost: it sees the wire as others do.
//
//	c, err := wiretest.Start(exec.Command("toolhost", "serve"), wiretest.Options{})
//	…
//	err = c.Request("agenttool/hello", map[string]any{"client": client}, &hello, time.Minute)
//	…
//	err = c.End(time.Minute)
package wiretest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrEnded says that the output ended before an answer came.
var ErrEnded = errors.New("the host ended")

// Message is one line as it came.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // as it was spelled; nil in a notification
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *Error          `json:"error"`
	Line    []byte          `json:"-"` // all of it, without its end
}

// Error is the error of a response.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error by the error's JSON.
func (e *Error) Error() string {
	text, _ := json.Marshal(e)
	return string(text)
}

// Options say who is told of what comes. Both functions are called by one goroutine, in the order of the lines; while one of them runs,
// nothing more is read.
type Options struct {
	// Heard gets every message, an answer before the request that it answers. nil: messages that answer nothing are dropped.
	Heard func(Message)
	// Malformed gets every line that is no JSON object, and what comes of a last line without its end. nil: they are dropped.
	Malformed func(line []byte, err error)
}

// Conn is one end of a stream of lines. Its methods may be called by several goroutines.
type Conn struct {
	options Options
	ended   chan struct{}

	writing sync.Mutex
	to      io.WriteCloser

	mu      sync.Mutex
	last    int64
	waiting map[string]chan Message // by id; nil when the output has ended
	err     error                   // that ended the output
}

// New reads lines until from ends. Its goroutine ends then.
func New(to io.WriteCloser, from io.Reader, o Options) *Conn {
	c := &Conn{options: o, to: to, ended: make(chan struct{}), waiting: map[string]chan Message{}}
	go c.read(from)
	return c
}

func (c *Conn) read(from io.Reader) {
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && len(line) > 0 && c.options.Malformed != nil {
			c.options.Malformed(line, io.ErrUnexpectedEOF)
		}
		if err != nil {
			c.end(err)
			return
		}
		c.take(bytes.TrimSuffix(line, []byte("\n")))
	}
}

func (c *Conn) take(line []byte) {
	m := Message{Line: line}
	if err := json.Unmarshal(line, &m); err != nil {
		if c.options.Malformed != nil {
			c.options.Malformed(line, err)
		}
		return
	}
	if c.options.Heard != nil {
		c.options.Heard(m)
	}
	if m.Method != "" {
		return
	}
	c.mu.Lock()
	answered := c.waiting[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if answered != nil {
		answered <- m
	}
}

func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answered := range c.waiting {
		close(answered)
	}
	c.waiting, c.err = nil, err
	close(c.ended)
}

// Ended is closed when the output has ended and all of it was heard.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Over reports whether Ended is closed.
func (c *Conn) Over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// Err returns the error that ended the output, nil for its end. It may be called after that.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == io.EOF {
		return nil
	}
	return c.err
}

// ID returns a number that no other request of this client has.
func (c *Conn) ID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// Write writes bytes as they are, while no other line is written.
func (c *Conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.to.Write(p)
}

// CloseInput ends the input, after what is being written.
func (c *Conn) CloseInput() error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.to.Close()
}

// Pending is a request that may not be answered yet.
type Pending struct {
	method  string
	Answers <-chan Message // gets the answer, or is closed without one when the output has ended
}

// Send sends a request. A request that cannot be written is not answered.
func (c *Conn) Send(method string, params any) Pending {
	id, answered := fmt.Sprint(c.ID()), make(chan Message, 1)
	c.mu.Lock()
	if c.waiting == nil {
		close(answered)
	} else {
		c.waiting[id] = answered
	}
	c.mu.Unlock()
	_, _ = c.Write(line(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params}))
	return Pending{method, answered}
}

// line encodes a message. What cannot be encoded is a mistake of the caller.
func line(message any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Request sends a request and waits for its result, as [Pending.Result] does.
func (c *Conn) Request(method string, params, result any, limit time.Duration) error {
	return c.Send(method, params).Result(result, limit)
}

// Result waits for the answer and decodes its result. An error of the protocol is an [*Error], the end of the output [ErrEnded].
func (p Pending) Result(result any, limit time.Duration) error {
	m, err := p.Message(limit)
	if err == nil && m.Error != nil {
		err = m.Error
	}
	if err == nil && result != nil {
		err = json.Unmarshal(m.Result, result)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.method, err)
	}
	return nil
}

// Message waits for the answer, whether it is a result or an error.
func (p Pending) Message(limit time.Duration) (Message, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case m, ok := <-p.Answers:
		if !ok {
			return m, ErrEnded
		}
		return m, nil
	case <-timer.C:
		return Message{}, fmt.Errorf("no answer within %v", limit)
	}
}
