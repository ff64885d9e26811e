package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sockets are the local sockets of one network namespace, as the kernel lists them: with the inode of the name that each
// was bound to. The list never has sockets of other namespaces, whatever their names, and no inode is
// bound twice.
type sockets struct {
	network uint64 // the namespace's cookie, which all of its sockets have

	mu       sync.Mutex // one listing at a time
	diag     int        // NETLINK_SOCK_DIAG; -1 when closed
	sequence uint32
	buffer   []byte
}

// newSockets takes a NETLINK_SOCK_DIAG socket over.
func newSockets(f *os.File) (*sockets, error) {
	defer f.Close()
	diag, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s := &sockets{diag: diag, buffer: make([]byte, listingPart)}
	if s.network, err = networkOf(diag); err == nil {
		err = unix.SetNonblock(diag, false)
	}
	if err == nil { // the kernel answers while we ask: this is for one that does not
		err = unix.SetsockoptTimeval(diag, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2})
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("the list of local sockets: %w", err)
	}
	return s, nil
}

// hostSockets are those of our own network.
func hostSockets() (*sockets, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	return newSockets(os.NewFile(uintptr(fd), "sock_diag"))
}

func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.diag >= 0 {
		_ = unix.Close(s.diag)
		s.diag = -1
	}
}

// networkOf returns the cookie of a socket's network namespace.
func networkOf(socket int) (uint64, error) {
	return unix.GetsockoptUint64(socket, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
}

// boundName is the inode of a socket's name as unix_diag(7) has it: the kernel's own numbers, the inode's cut to 32 bits.
type boundName struct{ ino, device uint32 }

// Of <linux/unix_diag.h>, <linux/sock_diag.h> and <net/tcp_states.h>.
const (
	sockDiagByFamily = 20
	showVFS          = 2
	attributeVFS     = 1
	stateListen      = 10

	sizeHeader  = 16 // struct nlmsghdr
	sizeRequest = 24 // struct unix_diag_req
	sizeMessage = 16 // struct unix_diag_msg
	listingPart = 32 << 10
)

// listens reports whether a socket of the namespace listens at name. Changes meanwhile may hide a socket from a
// listing that comes in parts, so a socket counts as missing only after two listings.
func (s *sockets) listens(name boundName) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, parts, err := s.look(name)
	if err == nil && !found && parts > 1 {
		found, _, err = s.look(name)
	}
	return found, err
}

// look goes through one listing.
func (s *sockets) look(name boundName) (found bool, parts int, err error) {
	if s.diag < 0 {
		return false, 0, os.ErrClosed
	}
	s.sequence++
	if err := unix.Sendto(s.diag, s.request(), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return false, 0, err
	}
	for done := false; !done; parts++ {
		n, _, err := unix.Recvfrom(s.diag, s.buffer, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false, parts, err
		}
		var here bool
		if here, done, err = s.part(s.buffer[:n], name); err != nil {
			return false, parts, err
		}
		found = found || here
	}
	return found, parts, nil
}

// request asks for all local sockets that listen.
func (s *sockets) request() []byte {
	e := binary.NativeEndian
	b := e.AppendUint32(nil, sizeHeader+sizeRequest)
	b = e.AppendUint16(b, sockDiagByFamily)
	b = e.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b = e.AppendUint32(b, s.sequence)
	b = e.AppendUint32(b, 0)
	b = append(b, unix.AF_UNIX, 0, 0, 0)
	b = e.AppendUint32(b, 1<<stateListen)
	b = e.AppendUint32(b, 0) // no inode in particular
	b = e.AppendUint32(b, showVFS)
	return e.AppendUint64(b, 0)
}

var errListing = errors.New("the kernel's list of local sockets cannot be read")

// part reads one part of a listing. Parts of one that was given up earlier are passed over.
func (s *sockets) part(b []byte, name boundName) (found, done bool, err error) {
	e := binary.NativeEndian
	for len(b) >= sizeHeader {
		size := int(e.Uint32(b))
		if size < sizeHeader || size > len(b) {
			return false, false, errListing
		}
		kind, ours, body := e.Uint16(b[4:]), e.Uint32(b[8:]) == s.sequence, b[sizeHeader:size]
		b = b[min(align(size), len(b)):]
		switch {
		case !ours:
		case kind == unix.NLMSG_DONE:
			return found, true, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return false, false, fmt.Errorf("%w: %w", errListing, unix.Errno(-int32(e.Uint32(body))))
		case kind == sockDiagByFamily && len(body) >= sizeMessage:
			at, ok := vfs(body[sizeMessage:])
			found = found || ok && at == name
		}
	}
	return found, false, nil
}

// vfs finds the name's inode among the attributes of a socket.
func vfs(b []byte) (boundName, bool) {
	e := binary.NativeEndian
	for len(b) >= 4 {
		size := int(e.Uint16(b))
		if size < 4 || size > len(b) {
			break
		}
		if e.Uint16(b[2:]) == attributeVFS && size >= 12 {
			return boundName{e.Uint32(b[4:]), e.Uint32(b[8:])}, true
		}
		b = b[min(align(size), len(b)):]
	}
	return boundName{}, false
}

func align(size int) int { return (size + 3) &^ 3 }

// socketViolation is the violation of a connect to a path.
func socketViolation(path, detail string) Violation {
	return Violation{Wall: FileSystem, Path: path, Call: "connect", Grant: "socket:" + path, Detail: detail, Certain: true}
}

func isSocket(place int) bool {
	var st unix.Stat_t
	return unix.Fstat(place, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFSOCK
}
