package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
)

// OwnLoopback reports whether the process has the loopback of its session, and not the machine's.
func (p *enclosure) OwnLoopback() bool {
	c := p.Confinement()
	return c.Level == Full && c.Profile != Unconfined
}

// DialLoopback connects to a port on the loopback that the commands of the session share. at must be a loopback address.
func (s *Session) DialLoopback(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	if s.level != Full || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("%s is not on a loopback of the session's own", at)
	}
	h, err := s.hold()
	if err != nil {
		return nil, err
	}
	f, err := h.openSocket(at.Addr().Is6())
	if err != nil {
		return nil, fmt.Errorf("a socket in the session's network: %w", err)
	}
	defer f.Close()
	if err := connectTo(ctx, f, at); err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: err}
	}
	return net.FileConn(f)
}

// openSocket has the holder make a TCP socket, which stays in its network wherever it is used.
func (h *holder) openSocket(six bool) (*os.File, error) {
	flags := byte(enter.MakeSocket)
	if six {
		flags |= enter.SocketSix
	}
	f, err := h.say(flags, "")
	if err == nil && f == nil {
		err = errors.New("no socket")
	}
	return f, err
}

// connectTo connects a socket. On a loopback that takes no time, except where a listener's queue is full: ctx bounds that.
func connectTo(ctx context.Context, f *os.File, at netip.AddrPort) error {
	var address unix.Sockaddr = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	if at.Addr().Is4() {
		address = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) })()
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Connect(int(fd), address)
		return failed != unix.EINPROGRESS && failed != unix.EALREADY
	})
	if failed == unix.EISCONN || failed == syscall.Errno(0) {
		failed = nil
	}
	return errors.Join(err, failed, ctx.Err())
}
