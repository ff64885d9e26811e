package proxy

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	"toolhost/sandbox/egress"
)

// handoff is a listener whose connections were accepted, read and judged before.
type handoff struct {
	conns chan *conn
	done  chan struct{}
	life  group
}

func newHandoff() *handoff {
	h := &handoff{conns: make(chan *conn), done: make(chan struct{})}
	h.life.add(func() { close(h.done) })
	return h
}

// give passes c to Accept, or closes it.
func (h *handoff) give(c *conn) {
	select {
	case h.conns <- c:
	case <-h.done:
		c.Close()
	}
}

// Accept returns the next connection that was given.
func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and give.
func (h *handoff) Close() error {
	h.life.close()
	return nil
}

// Addr returns a placeholder, as net.Listener demands: nobody can connect to a handoff.
func (h *handoff) Addr() net.Addr { return &net.UnixAddr{Name: "handoff", Net: "unix"} }

type connKey struct{}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// rewrite addresses the request to the host that was judged, whatever else it says, and keeps the rest as it was.
func rewrite(r *httputil.ProxyRequest) {
	v := connOf(r.In.Context()).verdict
	r.Out.URL.Scheme, r.Out.URL.Host = "http", authority(v)
	r.Out.URL.User = nil
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	r.Out.Host = r.Out.URL.Host
	if v.Port == webPort {
		r.Out.Host = egress.JoinAuthority(v.Host, 0)
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// transport connects through the checker of t, which checks again the address that it dials. A connection carries
// one request on this side too: bytes that a server sends beyond its answer belong to no request, and closing a ticket
// leaves no idle connection.
func transport(t *Ticket) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, digits, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			port, err := strconv.Atoi(digits)
			if err != nil {
				return nil, err
			}
			up, v := t.dial(ctx, host, port)
			if up == nil {
				return nil, refusedError{v}
			}
			return up, nil
		},
		Protocols:              protocols,
		DisableCompression:     true,
		DisableKeepAlives:      true,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// refusedError is the verdict of a refused connection, on its way through net/http.
type refusedError struct{ verdict egress.Verdict }

func (e refusedError) Error() string { return e.verdict.Message }

func authority(v egress.Verdict) string { return egress.JoinAuthority(v.Host, v.Port) }
