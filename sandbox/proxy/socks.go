package proxy

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"time"

	"toolhost/sandbox/egress"
)

// The numbers of SOCKS5 (RFC 1928) and its password exchange (RFC 1929).
const (
	socksVersion    = 5
	socksPassword   = 2
	socksNoMethod   = 0xff
	passwordVersion = 1

	socksConnect = 1
	socksIPv4    = 1
	socksName    = 3
	socksIPv6    = 4

	socksOK          = 0
	socksNotAllowed  = 2
	socksUnreachable = 4
	socksNoCommand   = 7
	socksNoAddress   = 8
)

var errSOCKSShape = errors.New("it is not SOCKS5 with user name and password, as RFC 1928 and RFC 1929 have it")

// serveSOCKS answers a connection that speaks SOCKS5.
func (p *Proxy) serveSOCKS(c *conn) {
	to := asked{protocol: SOCKS5}
	name, password, err := socksCredentials(c)
	if err != nil {
		p.endSOCKS(c, to, malformed(err))
		return
	}
	to.ticket = p.ticketOf(name, password)
	if refusal, ok := p.admit(c, to.ticket, egress.Verdict{}); !ok {
		c.Write([]byte{passwordVersion, 1})
		p.endSOCKS(c, to, refusal)
		return
	}
	c.Write([]byte{passwordVersion, 0})
	host, port, code, err := socksRequest(c.in)
	if err != nil {
		v := malformed(err)
		v.Port = port
		p.answerSOCKS(c, code)
		p.endSOCKS(c, to, v)
		return
	}
	c.SetDeadline(time.Time{})
	to.ticket.check(host, port) // a user may have to be asked
	up, v := to.ticket.dial(context.Background(), host, port)
	if up == nil {
		code := byte(socksNotAllowed)
		if v.Outcome == egress.Failed {
			code = socksUnreachable
		}
		p.answerSOCKS(c, code)
		p.endSOCKS(c, to, v)
		return
	}
	p.log(to.ticket, to.protocol, v)
	p.answerSOCKS(c, socksOK)
	tunnel{client: c, server: up, asked: to, verdict: v}.carry(p)
}

// endSOCKS logs a verdict and closes the connection, whose answer was written.
func (p *Proxy) endSOCKS(c *conn, to asked, v egress.Verdict) {
	p.log(to.ticket, to.protocol, v)
	c.dismiss()
}

// answerSOCKS writes a reply, without a bound address: the client has no use for one of another namespace.
func (p *Proxy) answerSOCKS(c *conn, code byte) {
	c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
}

// socksCredentials reads the choice of methods and the password. A client that offers no password gets a refusal.
func socksCredentials(c *conn) (name, password string, err error) {
	if _, err := readByte(c.in); err != nil { // the version, which was looked at
		return "", "", err
	}
	methods, err := readShort(c.in)
	if err != nil {
		return "", "", err
	}
	method := byte(socksNoMethod)
	for _, m := range []byte(methods) {
		if m == socksPassword {
			method = m
		}
	}
	c.Write([]byte{socksVersion, method})
	if method != socksPassword {
		return "", "", errors.New("the SOCKS5 client offers no user name and password")
	}
	if version, err := readByte(c.in); err != nil || version != passwordVersion {
		return "", "", errSOCKSShape
	}
	if name, err = readShort(c.in); err != nil {
		return "", "", err
	}
	password, err = readShort(c.in)
	return name, password, err
}

// socksRequest reads the client's request. On an error, code is the reply.
func socksRequest(r io.Reader) (host string, port int, code byte, err error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil || b[0] != socksVersion || b[2] != 0 {
		return "", 0, socksNotAllowed, errSOCKSShape
	}
	if b[1] != socksConnect {
		return "", 0, socksNoCommand, errors.New("of SOCKS5 only CONNECT is served")
	}
	switch b[3] {
	case socksIPv4:
		host, err = readAddr(r, 4)
	case socksIPv6:
		host, err = readAddr(r, 16)
	case socksName:
		host, err = readShort(r)
	default:
		return "", 0, socksNoAddress, errSOCKSShape
	}
	if err != nil {
		return "", 0, socksNotAllowed, err
	}
	if _, err := io.ReadFull(r, b[:2]); err != nil {
		return "", 0, socksNotAllowed, errSOCKSShape
	}
	return host, int(binary.BigEndian.Uint16(b[:2])), socksOK, nil
}

func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, errSOCKSShape
	}
	return b[0], nil
}

// readShort reads a text of at most 255 bytes, after its length.
func readShort(r io.Reader) (string, error) {
	n, err := readByte(r)
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", errSOCKSShape
	}
	return string(text), nil
}

func readAddr(r io.Reader, size int) (string, error) {
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", errSOCKSShape
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr.Unmap().String(), nil
}
