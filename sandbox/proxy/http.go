package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
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
	c.SetDeadline(time.Time{}) // a user may have to be asked
	if v = to.ticket.check(v.Host, v.Port); v.Outcome != egress.Allowed {
		p.refuse(c, to, v)
		return
	}
	if !h.agrees(v.Host, v.Port) {
		v.Outcome, v.Reason = egress.Denied, HostMismatch
		v.Message = "toolhost refused a request for " + authority(v) + " whose Host header names another host or port"
		p.refuse(c, to, v)
		return
	}
	if to.protocol == HTTPConnect {
		c.in.Discard(len(raw))
		p.serveConnect(c, to, v)
		return
	}
	c.ticket, c.verdict = to.ticket, v
	p.passed.give(c)
}

// asked is the protocol and the ticket of a request.
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
	tunnel{client: c, server: up, asked: to, verdict: v}.carry(p)
}

// newServer returns the server of requests that are passed on: one on each connection, already judged.
func (p *Proxy) newServer() *http.Server {
	s := &http.Server{
		Handler:           http.HandlerFunc(p.pass),
		ReadHeaderTimeout: p.o.Limits.Handshake,
		MaxHeaderBytes:    maxHead,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

func (p *Proxy) pass(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		return
	}
	defer p.running.Done()
	connOf(r.Context()).ticket.forward.ServeHTTP(w, r)
}

// forwarder passes the requests of t on. Hop-by-hop headers, credentials for this proxy among them, end here.
func (p *Proxy) forwarder(t *Ticket) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     transport(t),
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(res *http.Response) error {
			p.log(t, HTTP, connOf(res.Request.Context()).verdict)
			res.Header.Del(DeniedHeader) // only this proxy says so
			return nil
		},
		ErrorHandler: p.failed,
	}
}

// failed answers a request that could not be forwarded.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	c := connOf(r.Context())
	v := c.verdict
	if refused := (refusedError{}); errors.As(err, &refused) {
		v = refused.verdict
	} else {
		v.Outcome, v.Reason = egress.Failed, egress.Unreachable
		v.Message = fmt.Sprintf("%s is permitted but did not answer properly: %q", authority(v), err)
	}
	p.log(c.ticket, HTTP, v)
	res := response(v)
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	io.Copy(w, res.Body)
}
