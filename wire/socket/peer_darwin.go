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
	var peer *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		if peer, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, 0, err
	}
	return int(peer.Uid), pid, nil
}

func while(_ *net.UnixConn, pid int, look func(pid int)) { look(pid) }
