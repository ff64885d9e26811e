package proxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolhost/sandbox/egress"
)

// Options are the surroundings of a [Proxy]. The zero Options are those of this machine.
type Options struct {
	Egress egress.Options
	// Log gets every attempt, allowed or not, from several goroutines at once. It must return soon and is not
	// called after Close has returned. Nil: attempts are not logged.
	Log    func(Event)
	Limits Limits
	Now    func() time.Time // nil: time.Now

	// Ask reports whether a host that no grant of a ticket permits may be reached, by the verdict's suggested grant. It is called from
	// several goroutines and may take as long as it likes; ctx ends with the ticket. Nil: it may not.
	Ask func(ctx context.Context, ticket string, v egress.Verdict) bool
}

// Limits bound what commands can ask of a [Proxy]. A zero field has its default.
type Limits struct {
	Connections int           // of all commands at once; default 256
	Handshake   time.Duration // for a request's head, a TLS greeting; default 10 s
	Idle        time.Duration // after which a connection without data is closed; default 10 min
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = func(Event) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limits.Connections <= 0 {
		o.Limits.Connections = 256
	}
	if o.Limits.Handshake <= 0 {
		o.Limits.Handshake = 10 * time.Second
	}
	if o.Limits.Idle <= 0 {
		o.Limits.Idle = 10 * time.Minute
	}
	return o
}

// Proxy serves the commands of one session. It is safe for concurrent use.
type Proxy struct {
	o    Options
	life group // listeners, connections, tickets
	open atomic.Int64
	httpServer

	mu      sync.Mutex
	closed  bool
	tickets map[[sha256.Size]byte]*Ticket
	running sync.WaitGroup
}

// httpServer reads requests that are passed on.
type httpServer struct {
	server *http.Server // of requests that are passed on
	passed *handoff     // its connections
}

// New returns a Proxy, which is to be closed.
func New(o Options) *Proxy {
	p := &Proxy{o: o.withDefaults(), tickets: map[[sha256.Size]byte]*Ticket{}, httpServer: httpServer{passed: newHandoff()}}
	p.server = p.newServer()
	p.running.Go(func() { p.server.Serve(p.passed) })
	return p
}

// begin registers a piece of work that Close waits for; it reports false when the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Add(1)
	}
	return !p.closed
}

// Serve accepts connections from l until the proxy is closed, when it returns nil, or l fails. It closes l.
func (p *Proxy) Serve(l net.Listener) error {
	defer l.Close()
	if !p.begin() {
		return nil
	}
	defer p.running.Done()
	leave, ok := p.life.add(func() { l.Close() })
	defer leave()
	for ok {
		raw, err := l.Accept()
		if err == nil {
			p.accept(raw)
			continue
		}
		if _, ok = p.life.add(func() {}); !ok {
			break
		}
		if !passing(err) {
			return fmt.Errorf("accept from the sandbox: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// passing says whether a listener that failed with err is likely to work again: something ran short, or a client left
// before it was seen.
func passing(err error) bool {
	for _, short := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
	} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// turnedAway is how many connections beyond the limit get a refusal at a time. More are closed without one.
const turnedAway = 32

// accept serves raw in a goroutine of its own.
func (p *Proxy) accept(raw net.Conn) {
	n := p.open.Add(1)
	limit := int64(p.o.Limits.Connections)
	if n > limit+turnedAway {
		p.open.Add(-1)
		raw.Close()
		return
	}
	o, ok := own(raw, &p.life)
	if !ok {
		p.open.Add(-1)
		return
	}
	o.life.add(func() { p.open.Add(-1) })
	c := newConn(o, p.o.Limits.Idle)
	c.surplus = n > limit
	p.running.Go(func() { p.serve(c) })
}

// serve answers a connection. One that says nothing gets no answer.
func (p *Proxy) serve(c *conn) {
	c.SetDeadline(time.Now().Add(p.o.Limits.Handshake))
	if _, err := c.in.Peek(1); err != nil {
		c.Close()
		return
	}
	p.serveHTTP(c)
}

// admit binds the connection to its command: from now on it ends with the ticket. It returns the refusal if there is
// none or the proxy is full.
func (p *Proxy) admit(c *conn, t *Ticket, v egress.Verdict) (refusal egress.Verdict, ok bool) {
	v.Outcome = egress.Denied
	if t == nil || !c.join(&t.life) {
		v.Reason, v.Message = NoToken, "toolhost's proxy wants the user name and password of the proxy URL in the "+
			"environment (https_proxy); they end with the command that they were made for"
		return v, false
	}
	if c.surplus {
		v.Reason, v.Message = TooMany, fmt.Sprintf("toolhost's proxy serves %d connections of a session at once, "+
			"and all are in use: close some, or try later", p.o.Limits.Connections)
		return v, false
	}
	return v, true
}

// Close closes the listeners, all tickets and all connections, and waits for the end of all that it served.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.life.close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := p.server.Shutdown(ctx)
	p.running.Wait()
	return err
}

// log logs the outcome of an attempt. t is nil if its command is unknown.
func (p *Proxy) log(t *Ticket, protocol Protocol, v egress.Verdict) {
	e := Event{Time: p.o.Now(), Protocol: protocol, Verdict: v}
	if t != nil {
		e.Ticket = t.id
		for _, text := range []*string{&e.Host, &e.Message, &e.SuggestedGrant} {
			*text = t.redact(*text)
		}
		if v.Outcome != egress.Allowed { // else it was noted when it was dialled
			t.note(v)
		}
	}
	p.o.Log(e)
}

// Admit makes the ticket of a command that may reach the hosts of grants. Events carry id, which is for the caller to
// choose; without grants every attempt is refused and logged. A ticket of a closed proxy is closed.
func (p *Proxy) Admit(id string, grants []egress.Grant) *Ticket {
	t := &Ticket{id: id, token: strings.ToLower(rand.Text()), proxy: p, checker: egress.New(grants, p.o.Egress), traffic: &Traffic{}}
	t.forward = p.forwarder(t)
	p.mu.Lock()
	p.tickets[sha256.Sum256([]byte(t.token))] = t
	p.mu.Unlock()
	leave, ok := p.life.add(t.Close)
	if ok {
		_, ok = t.life.add(leave)
	}
	if !ok {
		leave()
		t.Close()
	}
	return t
}

// ticketOf returns the ticket that the credentials belong to, or nil. Tokens are found by their digest, so that the
// time it takes says nothing about how much of a guess was right.
func (p *Proxy) ticketOf(name, password string) *Ticket {
	if name != user {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tickets[sha256.Sum256([]byte(password))]
}
