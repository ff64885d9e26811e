package job

import (
	"net"
	"syscall"
	"testing"
)

// shortListener has no descriptor for its first connection, and is closed then.
type shortListener struct {
	net.Listener
	accepts int
}

func (l *shortListener) Accept() (net.Conn, error) {
	l.accepts++
	if l.accepts == 1 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return nil, net.ErrClosed
}

// TestForwardShortOfDescriptors: a forward that could not take a connection for want of descriptors takes the next one.
func TestForwardShortOfDescriptors(t *testing.T) {
	l := &shortListener{}
	f := &Forward{listener: l, done: make(chan struct{}), conns: map[net.Conn]bool{}}
	f.accept()
	if l.accepts != 2 {
		t.Errorf("it ended after %d connections", l.accepts)
	}
}
