package socket

import (
	"net"
	"os"
)

// Peer looks at the process at the other end of a connection, as the kernel knows it from when the connection was made: look is called with
// its id, and then with 0 if it has ended meanwhile, so that what was seen may be another's. Linux before 6.5 cannot tell.
func Peer(conn net.Conn, look func(pid int)) {
	local, ok := conn.(*net.UnixConn)
	if !ok {
		return
	}
	_, pid, err := credentials(local)
	if err == nil && pid > 0 {
		while(local, pid, look)
	}
}

// sameUser reports whether the other end is a process of this user. The kernel says so, as it was when the connection was made.
func sameUser(conn *net.UnixConn) bool {
	uid, _, err := credentials(conn)
	return err == nil && uid == os.Geteuid()
}
