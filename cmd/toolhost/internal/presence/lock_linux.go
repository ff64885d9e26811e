package presence

import "golang.org/x/sys/unix"

// Locks belong to open files: a session that is its own approver sees the lock, too.
const (
	query = unix.F_OFD_GETLK
	set   = unix.F_OFD_SETLK
)
