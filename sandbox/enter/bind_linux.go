package enter

import (
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// bind gives a socket of the command a name, in the command's view, and reports the result. The host has judged the name,
// and lets nothing move until it hears of us.
func bind(message string, fds []int, errno syscall.Errno) {
	end := index(message, 0)
	if errno == 0 {
		errno = syscall.EBADMSG
	}
	if len(fds) == 2 && end < len(message) {
		errno = bindAt(fds[0], fds[1], number(message[:end]), message[end+1:])
	}
	for _, fd := range fds {
		syscall.Close(fd)
	}
	say(SaysBound, -1, strconv.Itoa(int(errno)))
}

func bindAt(socket, dir, umask int, name string) syscall.Errno {
	address := struct {
		family uint16
		path   [108]byte
	}{family: syscall.AF_UNIX}
	if len(name) > len(address.path) {
		return syscall.EINVAL
	}
	copy(address.path[:], name)
	if err := syscall.Fchdir(dir); err != nil {
		return err.(syscall.Errno)
	}
	defer syscall.Chdir("/")
	defer syscall.Umask(syscall.Umask(umask))
	size := unsafe.Offsetof(address.path) + uintptr(min(len(name)+1, len(address.path)))
	_, errno := sys(syscall.SYS_BIND, uintptr(socket), uintptr(unsafe.Pointer(&address)), size)
	runtime.KeepAlive(&address)
	return errno
}
