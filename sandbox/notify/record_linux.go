package notify

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif, and response struct seccomp_notif_resp, of <linux/seccomp.h>.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	data  struct {
		nr   int32
		arch uint32
		ip   uint64
		args [6]uint64
	}
}

type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// control is an ioctl on the listener.
func control(fd int, request uint, record unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(record))
	if errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

func ignoreEINTR(err error) error {
	if err == unix.EINTR {
		return nil
	}
	return err
}
