package proxy

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"toolhost/sandbox/egress"
)

// serveHTTP answers the one request of a connection.
func (p *Proxy) serveHTTP(c *conn) {
	raw, err := peekHead(c.in)
	if err != nil {
		p.badHead(c, err)
		return
	}
	h, err := parseHead(raw)
	if err != nil {
		p.refuse(c, asked{}, malformed(err))
		return
	}
	to := asked{protocol: HTTP, ticket: p.ticketOf(h.credentials())}
	if h.method == "CONNECT" {
		to.protocol = HTTPConnect
	}
	v := egress.Verdict{}
	if v.Host, v.Port, err = h.destination(); err != nil {
		p.refuse(c, to, malformed(err))
		return
	}
	if refusal, ok := p.admit(c, to.ticket, judged(v.Host, v.Port)); !ok {
		p.refuse(c, to, refusal)
		return
	}
	if v = to.ticket.checker.Check(v.Host, v.Port); v.Outcome != egress.Allowed {
		p.refuse(c, to, v)
		return
	}
	if !h.agrees(v.Host, v.Port) {
		v.Outcome, v.Reason = egress.Denied, HostMismatch
		v.Message = "toolhost refused a request for " + authority(v) + " whose Host header names another host or port"
		p.refuse(c, to, v)
		return
	}
	c.SetDeadline(time.Time{})
	if to.protocol == HTTPConnect {
		c.in.Discard(len(raw))
		p.serveConnect(c, to, v)
		return
	}
	c.ticket, c.verdict = to.ticket, v
	p.passed.give(c)
}

// asked says how something was asked for, and by whom.
type asked struct {
	protocol Protocol
	ticket   *Ticket // nil: unknown
}

// judged returns a verdict that is still open on a host, in the canonical spelling if it has one.
func judged(host string, port int) egress.Verdict {
	v := egress.New(nil, egress.Options{}).Check(host, port)
	return egress.Verdict{Host: v.Host, Port: v.Port}
}

func malformed(err error) egress.Verdict {
	message := "toolhost refused the request: " + err.Error()
	return egress.Verdict{Outcome: egress.Denied, Reason: BadRequest, Message: message}
}

func authority(v egress.Verdict) string { return egress.JoinAuthority(v.Host, v.Port) }

// badHead answers a head that did not arrive.
func (p *Proxy) badHead(c *conn, err error) {
	v := malformed(err)
	switch {
	case errors.Is(err, errHeadTooLarge):
	case errors.Is(err, os.ErrDeadlineExceeded):
		v.Reason, v.Message = TooSlow, "toolhost refused the request: its head did not arrive in time"
	default: // the client left
		c.Close()
		return
	}
	p.refuse(c, asked{}, v)
}

// refuse logs a verdict, answers with it and closes the connection.
func (p *Proxy) refuse(c *conn, to asked, v egress.Verdict) {
	p.log(to.ticket, to.protocol, v)
	c.SetDeadline(time.Now().Add(p.o.Limits.Handshake))
	if response(v).Write(c) == nil {
		c.dismiss()
	}
	c.Close()
}

func (p *Proxy) serveConnect(c *conn, to asked, v egress.Verdict) {
	up, v := to.ticket.dial(context.Background(), v.Host, v.Port)
	if up == nil {
		p.refuse(c, to, v)
		return
	}
	p.log(to.ticket, to.protocol, v)
	if _, err := io.Copy(c, strings.NewReader("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		up.Close()
		c.Close()
		return
	}
	p.tunnel(tunnel{client: c, server: up, asked: to, verdict: v})
}
