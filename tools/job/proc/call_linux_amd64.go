package proc

import "golang.org/x/sys/unix"

// oldKindOf handles the calls that newer architectures lack.
func oldKindOf(number int64) kind {
	switch number {
	case unix.SYS_POLL:
		return polling
	case unix.SYS_SELECT:
		return selecting
	case unix.SYS_EPOLL_WAIT:
		return epolling
	}
	return other
}
