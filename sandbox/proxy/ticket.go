package proxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"net/url"
	"strings"

	"toolhost/sandbox/egress"
)

// user is the name in every proxy URL; what counts is the password.
const user = "th"

// Ticket is the permission of one command to use the proxy.
type Ticket struct {
	id      string
	token   string
	proxy   *Proxy
	checker *egress.Checker
	life    group // of all its connections
	forward http.Handler
}

// Admit makes the ticket of a command that may reach the hosts of grants. Events carry id, which is for the caller to
// choose; without grants every attempt is refused and logged. A ticket of a closed proxy is closed.
func (p *Proxy) Admit(id string, grants []egress.Grant) *Ticket {
	t := &Ticket{id: id, token: strings.ToLower(rand.Text()), proxy: p, checker: egress.New(grants, p.o.Egress)}
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

// URL returns the proxy's URL for this command, token included. Address is that of the listener.
func (t *Ticket) URL(address net.Addr) string {
	u := url.URL{Scheme: "http", User: url.UserPassword(user, t.token), Host: address.String()}
	return u.String()
}

// String returns the ticket's id, never its token.
func (t *Ticket) String() string { return t.id }

// Close revokes the ticket and closes its connections. It may be called more than once.
func (t *Ticket) Close() {
	t.proxy.mu.Lock()
	delete(t.proxy.tickets, sha256.Sum256([]byte(t.token)))
	t.proxy.mu.Unlock()
	t.life.close()
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

// dial connects to a host under the ticket's grants. The connection ends with the ticket.
func (t *Ticket) dial(ctx context.Context, host string, port int) (*owned, egress.Verdict) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done, ok := t.life.add(cancel)
	if !ok {
		cancel()
	}
	defer done()
	raw, v := t.checker.Dial(ctx, host, port)
	if raw == nil {
		return nil, v
	}
	up, ok := own(raw, &t.life)
	if !ok {
		v.Outcome, v.Reason, v.Message = egress.Failed, egress.Canceled, "the command ended before the host was reached"
		return nil, v
	}
	return up, v
}
