package socket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sweep removes the sockets in a directory of this user whose names have a suffix and that no process has any more: a process that
// is killed leaves its own.
func Sweep(dir, suffix string) {
	if Own(dir) != nil {
		return
	}
	entries, _ := os.ReadDir(dir) // one that went away has none
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type() == os.ModeSocket && strings.HasSuffix(e.Name(), suffix) && abandoned(path) {
			_ = os.Remove(path)
		}
	}
}

// abandoned reports whether no process has the socket at path. One that is just being made has its name for a moment before its
// process has it, while its directory is locked: a link to a name that exists waits for that lock, and changes nothing.
func abandoned(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	return refuses(path) && errors.Is(os.Link(path, path), os.ErrExist) && refuses(path)
}

// refuses reports whether no process has the socket at path. It tries to connect with a datagram socket: if a process has the stream
// socket, listening or not yet, the kernel reports the wrong type, and the process does not notice.
func refuses(path string) bool {
	conn, err := net.Dial("unixgram", path)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
