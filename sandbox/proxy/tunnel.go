package proxy

import (
	"io"
	"time"

	"toolhost/sandbox/egress"
)

// tunnel is a pair of connections between which bytes go both ways.
type tunnel struct {
	client  *conn
	server  *groupConn
	asked   asked
	verdict egress.Verdict // that allowed it
}

// carry carries bytes until both sides are done, one of them breaks, or no data comes for too long.
//
// The server's bytes flow at once, for there are protocols in which the server speaks first; the client's flow once
// their beginning was looked at.
func (t tunnel) carry(p *Proxy) {
	defer t.close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.pour(t.client, t.server)
	}()
	if in, ok := t.greeting(p); ok {
		t.pour(t.server, in)
	} else {
		t.close()
	}
	<-done
}

func (t tunnel) close() {
	t.client.Close()
	t.server.Close()
}

type halfCloser interface {
	io.Writer
	CloseWrite() error
}

// pour copies until src ends and passes the end on. An error in one direction ends both.
func (t tunnel) pour(dst halfCloser, src io.Reader) {
	_, err := io.Copy(dst, src)
	if err == nil {
		err = dst.CloseWrite()
	}
	if err != nil {
		t.close()
	}
}

// greeting looks at the client's first bytes and returns all that it sends, or false when they are refused.
func (t tunnel) greeting(p *Proxy) (io.Reader, bool) {
	if first, err := t.client.in.Peek(1); err != nil || first[0] != tlsHandshake {
		return t.client, true
	}
	t.client.SetReadDeadline(time.Now().Add(p.o.Limits.Handshake))
	name, read, err := readGreeting(t.client.in)
	t.client.SetReadDeadline(time.Time{})
	v := t.verdict
	v.Outcome = egress.Denied
	switch {
	case err != nil:
		v.Reason = BadGreeting
		v.Message = "toolhost closed the tunnel to " + authority(v) + ": its TLS greeting could not be read"
	case name != "" && !sameName(name, v.Host):
		v.Reason = NameMismatch
		v.Message = "toolhost closed the tunnel to " + authority(v) + ": its TLS greeting names another server, " +
			judged(name, v.Port).Host
	default:
		return io.MultiReader(read, t.client), true
	}
	p.log(t.asked.ticket, t.asked.protocol, v)
	t.client.SetWriteDeadline(time.Now().Add(p.o.Limits.Handshake))
	t.client.Write(unrecognizedName)
	t.client.dismiss()
	return nil, false
}

func sameName(name, host string) bool {
	a, err := egress.ParseHost(name)
	return err == nil && a.String() == host
}
