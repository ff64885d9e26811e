package http

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"
)

// connections are those that are open. Every user of the machine can make some, so one that never showed the token gives
// way to a newer one when there is no place left, and those that did cannot take the last places.
type connections struct {
	most, known int // places in all, and for those that showed the token
	write       time.Duration

	mu     sync.Mutex
	open   []*connection // oldest first
	proved int           // that showed the token
}

func newConnections(l limits) *connections {
	return &connections{most: l.conns + l.spare, known: l.conns, write: l.write}
}

// connection bounds how long a write to the other end may take. A client that does not read is cut off by that.
type connection struct {
	net.Conn
	among  *connections
	proved bool // guarded by among
}

// listener counts the connections that it accepts.
type listener struct {
	*net.TCPListener
	open *connections
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.TCPListener.Accept()
	if err != nil {
		return nil, err
	}
	return l.open.add(c), nil
}

func (all *connections) add(c net.Conn) *connection {
	added := &connection{Conn: c, among: all}
	all.mu.Lock()
	var oldest *connection
	if len(all.open) >= all.most {
		oldest = all.strangers(1)[0] // most is above known
	}
	all.open = append(all.open, added)
	all.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return added
}

// strangers returns the oldest connections that did not show the token, n at most.
func (all *connections) strangers(n int) []*connection {
	var found []*connection
	for _, c := range all.open {
		if !c.proved && len(found) < n {
			found = append(found, c)
		}
	}
	return found
}

// prove says that the token came over c. It reports false if too many have shown it already.
func (all *connections) prove(c *connection) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case c.proved:
		return true
	case all.proved >= all.known || !slices.Contains(all.open, c):
		return false
	}
	c.proved = true
	all.proved++
	return true
}

func (all *connections) remove(c *connection) {
	all.mu.Lock()
	defer all.mu.Unlock()
	i := slices.Index(all.open, c)
	if i < 0 {
		return
	}
	all.open = slices.Delete(all.open, i, i+1)
	if c.proved {
		all.proved--
	}
}

// closeStrangers closes connections over which nothing can be under way.
func (all *connections) closeStrangers() {
	all.mu.Lock()
	found := all.strangers(len(all.open))
	all.mu.Unlock()
	for _, c := range found {
		_ = c.Close()
	}
}

func (all *connections) closeAll() {
	all.mu.Lock()
	found := slices.Clone(all.open)
	all.mu.Unlock()
	for _, c := range found {
		_ = c.Close()
	}
}

// writePart is how many bytes are to be taken by the other end within the bound of a write.
const writePart = 64 << 10

// Write sends b, or fails when a part of it takes too long.
func (c *connection) Write(b []byte) (sent int, err error) {
	for err == nil {
		if err = c.SetWriteDeadline(time.Now().Add(c.among.write)); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(b[sent:min(len(b), sent+writePart)])
		if sent += n; sent == len(b) {
			break
		}
	}
	return sent, err
}

// CloseWrite tells the other end that nothing more comes; net/http does so before it gives up a connection.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close ends the connection.
func (c *connection) Close() error {
	c.among.remove(c)
	return c.Conn.Close()
}

// connectionKey is where the context of a request has its connection.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}
