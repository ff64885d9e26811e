package proxy

import (
	"context"
	"crypto/sha256"
	"net"
	"net/url"
	"strings"

	"toolhost/sandbox/egress"
)

// user is the name in every proxy URL; only the password counts.
const user = "th"

// Traffic returns the counters of the ticket's connections. They can still be read when the ticket is closed.
func (t *Ticket) Traffic() *Traffic { return t.traffic }

// note notes an attempt to reach a host.
func (t *Ticket) note(v egress.Verdict) *use { return t.traffic.note(t.redact(v.Host), v) }

// redact replaces the token in a text that a command chose.
func (t *Ticket) redact(text string) string { return strings.ReplaceAll(text, t.token, "[token]") }

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

// check judges a host by the ticket's grants. If none permits it, the proxy's owner is asked for another one.
func (t *Ticket) check(host string, port int) egress.Verdict {
	v := t.checker.Check(host, port)
	ask := t.proxy.o.Ask
	if v.Outcome != egress.Denied || v.Reason != egress.NoGrant && v.Reason != egress.PortNotGranted || v.SuggestedGrant == "" || ask == nil {
		return v
	}
	grant, err := egress.ParseGrant(strings.TrimPrefix(v.SuggestedGrant, "host:"))
	if err != nil {
		return v
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done, ok := t.life.add(cancel)
	defer done()
	if !ok || !ask(ctx, t.id, v) || ctx.Err() != nil {
		return v
	}
	t.checker.Add(grant)
	return t.checker.Check(host, port)
}

// dial connects to a host under the ticket's grants. The connection ends with the ticket.
func (t *Ticket) dial(ctx context.Context, host string, port int) (*groupConn, egress.Verdict) {
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
	up.use = t.note(v)
	return up, v
}
