package http

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"
)

// connections are those that are open. Every user of the machine can make some, so those that did not show the token have
// places of their own. Where these are taken, a new connection waits until one of them showed the token or has gone. The
// oldest one gives way if it was silent for too long, and none showed the token meanwhile: the clients of a crowd connect
// first, and then send their requests one after the other.
type connections struct {
	places
	silent, write time.Duration

	mu     sync.Mutex
	open   []*connection // oldest first
	proved int           // that showed the token
	shown  time.Time     // when the last one did
	left   chan struct{} // has one when a place of a stranger may be free
}

// places are the numbers of connections that showed the token, and of the others.
type places struct {
	known, spare int
}

func newConnections(l limits) *connections {
	return &connections{places: places{known: l.conns, spare: l.spare}, silent: l.silent, write: l.write, left: make(chan struct{}, 1)}
}

// connection bounds how long a write to the other end may take. A client that does not read is cut off by that.
type connection struct {
	net.Conn
	among  *connections
	came   time.Time
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

// add takes a new connection when it has a place. Only one goroutine, that of the listener, calls it.
func (all *connections) add(c net.Conn) *connection {
	added := &connection{Conn: c, among: all, came: time.Now()}
	for !all.admit(added) {
		all.makeRoom()
	}
	return added
}

// admit reports whether there was a place.
func (all *connections) admit(c *connection) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.open)-all.proved >= all.spare {
		return false
	}
	all.open = append(all.open, c)
	return true
}

// makeRoom waits until a stranger showed the token or left, and closes the oldest one when its time is over.
func (all *connections) makeRoom() {
	all.mu.Lock()
	oldest, shown := all.strangers(1), all.shown
	all.mu.Unlock()
	if len(oldest) == 0 {
		return
	}
	since := oldest[0].came
	if shown.After(since) {
		since = shown
	}
	select {
	case <-all.left:
	case <-time.After(time.Until(since.Add(all.silent))):
		_ = all.closeStranger(oldest[0])
	}
}

// closeStranger closes c unless it has shown the token just now.
func (all *connections) closeStranger(c *connection) error {
	all.mu.Lock()
	proved := c.proved
	all.mu.Unlock()
	if proved {
		return nil
	}
	return c.Close()
}

// roomLocked says that a stranger less is there.
func (all *connections) roomLocked() {
	select {
	case all.left <- struct{}{}:
	default:
	}
}

// crowded reports whether so many showed the token that their connections are better not kept for further requests.
func (all *connections) crowded() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.proved*4 > all.known*3
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
	all.shown = time.Now()
	all.roomLocked()
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
	all.roomLocked()
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
