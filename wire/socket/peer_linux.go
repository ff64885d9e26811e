package socket

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

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
