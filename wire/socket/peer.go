package socket

import (
	"net"
	"os"
)

// Peer calls look with the id of the process that made a connection, as the kernel recorded it. If that process has ended meanwhile, it
// then calls look with 0: look may have seen another process with the same id. Linux before 6.5 does not report such an end.
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
