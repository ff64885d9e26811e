package socket

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
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

// credentials are those of the process at the other end, as it was when the connection was made.
func credentials(conn *net.UnixConn) (uid, pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var peer *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err != nil {
		return 0, 0, err
	}
	return int(peer.Uid), int(peer.Pid), nil
}

// while calls look with the id of the process at the other end, and with 0 if that has ended meanwhile.
func while(conn *net.UnixConn, pid int, look func(pid int)) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	handle := -1
	_ = raw.Control(func(fd uintptr) {
		if h, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil {
			handle = h
		}
	})
	if handle < 0 {
		look(pid)
		return
	}
	defer unix.Close(handle)
	if look(pid); unix.PidfdSendSignal(handle, 0, nil, 0) != nil {
		look(0) // it has ended: look may have seen another process
	}
}
