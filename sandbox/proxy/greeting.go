package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// tlsHandshake is the first byte of a connection that begins with TLS (RFC 8446, section 5.1).
const tlsHandshake = 22

// unrecognizedName is the fatal alert of a server that refuses a name (RFC 6066, section 3).
var unrecognizedName = []byte{21, 3, 1, 0, 2, 2, 112}

var errSeen = errors.New("seen")

// readGreeting reads a TLS ClientHello from r and returns the server name in it, which may be empty, and the bytes
// that were read. The reader is crypto/tls itself, which knows fragments and bounds. A greeting that it cannot read is an error:
// another server might find a name in it.
func readGreeting(r io.Reader) (name string, read io.Reader, err error) {
	var copied bytes.Buffer
	seen := false
	err = tls.Server(readOnlyConn{io.TeeReader(r, &copied)}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name, seen = hello.ServerName, true
			return nil, errSeen
		},
	}).Handshake()
	if !seen {
		return "", nil, err
	}
	return name, &copied, nil
}

// readOnlyConn is a connection for reading; writes are dropped.
type readOnlyConn struct{ io.Reader }

func (readOnlyConn) Write(p []byte) (int, error)      { return len(p), nil }
func (readOnlyConn) Close() error                     { return nil }
func (readOnlyConn) LocalAddr() net.Addr              { return nil }
func (readOnlyConn) RemoteAddr() net.Addr             { return nil }
func (readOnlyConn) SetDeadline(time.Time) error      { return nil }
func (readOnlyConn) SetReadDeadline(time.Time) error  { return nil }
func (readOnlyConn) SetWriteDeadline(time.Time) error { return nil }
