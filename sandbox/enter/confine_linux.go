package enter

import (
	"runtime"
	"syscall"
	"unsafe"
)

// confine carries out the operations that restrict the calling thread. ok is false if op is none.
func (h *helper) confine(s Step) (errno syscall.Errno, ok bool) {
	switch s.Op {
	case Loopback:
		return loopback(), true
	case Streams:
		return checkStreams(h.files), true
	case Directory:
		return enterDirectory(s.Args[0], s.Args[1], s.Args[2]), true
	case Limit:
		return limitOf(s).set(0), true
	case Bound:
		l := limitOf(s)
		h.bounds = append(h.bounds, l)
		return prlimit(0, l.resource, nil, &syscall.Rlimit{}), true // that there is such a resource
	case Privileges:
		return dropPrivileges(), true
	case Filter:
		return h.filter(s.Args[0], s.Args[1] != ""), true
	}
	return 0, false
}

// loopback brings lo up. Its addresses come by themselves.
func loopback() syscall.Errno {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err.(syscall.Errno)
	}
	defer syscall.Close(fd)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}, flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	_, errno := sys(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	runtime.KeepAlive(&request)
	return errno
}

// enterDirectory enters a directory of the new view, if it is the one that was approved.
func enterDirectory(path, dev, ino string) syscall.Errno {
	fd, errno := openSame(path, dev, ino)
	if errno == syscall.ENOSYS || errno == syscall.EPERM { // a kernel before 5.6, or a container that forbids to ask
		fd, errno = openAny(path, dev, ino)
	}
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	if err := syscall.Fchdir(fd); err != nil {
		return err.(syscall.Errno)
	}
	return 0
}

// dropPrivileges gives up every capability, also those that root would get back from the next program.
func dropPrivileges() syscall.Errno {
	const lastPossible = 63
	for c := uintptr(0); c <= lastPossible; c++ {
		if prctl(prCapbsetDrop, c, 0) != 0 {
			break // the kernel has no more
		}
	}
	_ = prctl(prCapAmbient, prCapAmbientClear, 0)
	header := struct{ version, pid uint32 }{0x20080522, 0}
	var none [2]struct{ effective, permitted, inheritable uint32 }
	_, errno := sys(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)))
	runtime.KeepAlive(&header)
	runtime.KeepAlive(&none)
	if errno != 0 {
		return errno
	}
	return prctl(prSetNoNewPrivs, 1, 0)
}

// restrict enters the Landlock domain. No mount can be changed by this thread from here on.
func (h *helper) restrict() syscall.Errno {
	if h.ruleset < 0 {
		return 0
	}
	_, errno := sys(sysLandlockRestrict, uintptr(h.ruleset), 0)
	syscall.Close(h.ruleset)
	h.ruleset = -1
	return errno
}

// filter installs the system call filter. It enters the Landlock domain first, since the filter forbids that. The host serves
// the calls that the filter hands over; until then they wait.
func (h *helper) filter(program string, notify bool) syscall.Errno {
	const setModeFilter, newListener, waitKillable, instruction = 1, 1 << 3, 1 << 5, 8
	if errno := h.restrict(); errno != 0 {
		return errno
	}
	code := []byte(program)
	fprog := struct {
		count uint16
		code  *byte
	}{uint16(len(code) / instruction), unsafe.SliceData(code)}
	flags := uintptr(0)
	if h.notify = notify; h.pids != 0 {
		notify = true // it tells when the last process of the command has ended
	}
	if notify {
		flags = newListener | waitKillable // only a deadly signal interrupts a call whose name is being looked at
	}
	fd, errno := sys(sysSeccomp, setModeFilter, flags, uintptr(unsafe.Pointer(&fprog)))
	if errno == syscall.EINVAL && notify { // a kernel before 5.19
		fd, errno = sys(sysSeccomp, setModeFilter, newListener, uintptr(unsafe.Pointer(&fprog)))
	}
	runtime.KeepAlive(&fprog)
	runtime.KeepAlive(code)
	if errno == 0 && notify {
		h.listener = fd
	}
	return errno
}
