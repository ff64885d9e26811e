package proxy

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"toolhost/sandbox/egress"
)

// groupConn is a connection that ends with the groups it was given to.
type groupConn struct {
	net.Conn
	life group
	use  *use // of a connection to a host: its bytes; else nil
}

func (o *groupConn) Read(p []byte) (int, error) {
	n, err := o.Conn.Read(p)
	if o.use != nil {
		o.use.received.Add(int64(n))
	}
	return n, err
}

// Write counts the bytes before they go, so that no host has bytes which the record of a call lacks, and takes back what did not go.
func (o *groupConn) Write(p []byte) (int, error) {
	if o.use == nil {
		return o.Conn.Write(p)
	}
	o.use.sent.Add(int64(len(p)))
	n, err := o.Conn.Write(p)
	o.use.sent.Add(int64(n - len(p)))
	return n, err
}

// own returns c so that closing it leaves the groups, and closing a group closes it. It reports false, with c closed,
// when a group is closed already.
func own(c net.Conn, groups ...*group) (*groupConn, bool) {
	o := &groupConn{Conn: c}
	o.life.add(func() { c.Close() })
	for _, g := range groups {
		if !o.join(g) {
			return nil, false
		}
	}
	return o, true
}

// join gives o to one more group, or closes it when that is closed.
func (o *groupConn) join(g *group) bool {
	leave, ok := g.add(o.life.close)
	if ok {
		_, ok = o.life.add(leave)
	}
	if !ok {
		leave()
		o.life.close()
	}
	return ok
}

// Close closes the connection, once.
func (o *groupConn) Close() error {
	o.life.close()
	return nil
}

// CloseWrite says that no more will be written.
func (o *groupConn) CloseWrite() error {
	if half, ok := o.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// conn is a connection from a command. It is closed when nothing was read from it or written to it for a while. All data of
// the connection behind it passes here, so that is covered too.
type conn struct {
	*groupConn
	in      *bufio.Reader // all reading goes through it, so that peeked bytes are not lost
	quiet   *time.Timer
	limit   time.Duration
	surplus bool // beyond the limit of connections: it gets a refusal

	ticket  *Ticket        // of a request that is passed on
	verdict egress.Verdict // on it
}

func newConn(o *groupConn, idle time.Duration) *conn {
	c := &conn{groupConn: o, limit: idle}
	c.in = bufio.NewReaderSize(rawReader{c}, maxHead)
	c.quiet = time.AfterFunc(idle, o.life.close)
	if _, ok := o.life.add(func() { c.quiet.Stop() }); !ok {
		c.quiet.Stop()
	}
	return c
}

// rawReader reads from the network itself.
type rawReader struct{ c *conn }

func (r rawReader) Read(p []byte) (int, error) {
	n, err := r.c.Conn.Read(p)
	r.c.stir(n)
	return n, err
}

func (c *conn) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.stir(n)
	return n, err
}

func (c *conn) stir(n int) {
	if n > 0 {
		c.quiet.Reset(c.limit)
	}
}

// dismiss closes the connection in a way that lets a client read the answer that was written before: a close with
// unread input would destroy it on its way.
func (c *conn) dismiss() {
	const patience, most = 500 * time.Millisecond, 256 << 10
	c.CloseWrite()
	c.SetReadDeadline(time.Now().Add(patience))
	c.in.Discard(most)
	c.Close()
}

// Ticket is the permission of one command to use the proxy.
type Ticket struct {
	id      string
	token   string
	proxy   *Proxy
	checker *egress.Checker
	life    group // of all its connections
	forward http.Handler
	traffic *Traffic
}
