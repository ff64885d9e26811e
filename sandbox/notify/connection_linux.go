package notify

import (
	"encoding/binary"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// caller is a process that waits in a call, with the descriptors that the call needs.
type caller struct {
	process
	handle int // a pidfd; -1: none
	socket int // a duplicate of its socket, or of another descriptor; -1: none
	place  int // the file that the address names; -1: none
}

func newCaller(n *notification) *caller {
	pid := int(n.pid)
	return &caller{
		process: process{pid: pid, dir: "/proc/" + strconv.Itoa(pid), root: &rootDir{fd: -1}},
		handle:  -1, socket: -1, place: -1,
	}
}

func (c *caller) leave() {
	for _, fd := range []int{c.handle, c.socket, c.place} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	c.root.forget()
}

// pidfdThread is PIDFD_THREAD: a handle of the very thread, whose descriptors may be its own.
const pidfdThread = unix.O_EXCL

// take duplicates what the thread calls fd.
func (c *caller) take(fd int) (err error) {
	closeAll(c.handle, c.socket)
	c.handle, c.socket = -1, -1
	if c.handle, err = unix.PidfdOpen(c.pid, pidfdThread); err == unix.EINVAL { // a kernel before 6.9
		return c.takeOfLeader(fd)
	}
	if err == nil {
		c.socket, err = unix.PidfdGetfd(c.handle, fd, 0)
	}
	return err
}

// takeOfLeader does it by the process's first thread, whose descriptors are nearly always the same.
func (c *caller) takeOfLeader(fd int) error {
	leader, err := c.leader()
	if err != nil {
		return err
	}
	if c.handle, err = unix.PidfdOpen(leader, 0); err != nil {
		return err
	}
	if c.socket, err = unix.PidfdGetfd(c.handle, fd, 0); err != nil || leader == c.pid {
		return err
	}
	theirs, err := os.Readlink(c.entry(fd))
	ours, failed := nameOf(c.socket)
	if err != nil || failed != nil || ours != theirs {
		return unix.EACCES
	}
	return nil
}

// maxAddress is the size of struct sockaddr_storage: the kernel takes no longer address.
const maxAddress = 128

// address reads the address of a connect, once.
func (c *caller) address(at, size uint64) ([]byte, error) {
	length := int32(size)
	if length < 0 || length > maxAddress {
		return nil, unix.EINVAL
	}
	buf := make([]byte, length)
	if length == 0 {
		return buf, nil
	}
	if runtime.GOARCH == "arm64" {
		at &= 1<<56 - 1
	}
	if n, err := c.read(buf, at); err != nil || n < len(buf) {
		return nil, unix.EFAULT
	}
	return buf, nil
}

// localName returns the path in the address of a local socket. Where there is none, the address is of another kind:
// abstract, or wrong.
func localName(address []byte) (name string, ok bool) {
	const family = 2 // the size of the address family, before the name
	if len(address) <= family || binary.NativeEndian.Uint16(address) != unix.AF_UNIX || address[family] == 0 {
		return "", false
	}
	name, _, _ = strings.Cut(string(address[family:]), "\x00")
	return name, true
}

// localAddress is the address of an open place. The kernel goes through the link in /proc to the very inode.
func localAddress(place int) []byte {
	address := binary.NativeEndian.AppendUint16(nil, unix.AF_UNIX)
	return append(append(address, "/proc/self/fd/"+strconv.Itoa(place)...), 0)
}

// find opens the target of name and describes it for the judge.
func (c *caller) find(name string, n *Connection) {
	w := walk{p: &c.process, at: -1}
	defer w.leave()
	if c.place, n.Cause = w.place(unix.AT_FDCWD, name); n.Cause == nil {
		n.Path, n.Cause = nameOf(c.place)
	}
	if n.Cause != nil {
		n.Path = path.Clean(name)
	}
	n.Place = c.place
	if n.Path == "" { // which no place is known by, and which would say that there is none
		n.Path = "?"
	}
}

// connectCall is the call itself. The address is in our own memory, which no other process writes.
func connectCall(socket int, address []byte) unix.Errno {
	var at unsafe.Pointer
	if len(address) > 0 {
		at = unsafe.Pointer(&address[0])
	}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(at), uintptr(len(address)))
	runtime.KeepAlive(address)
	return errno
}
