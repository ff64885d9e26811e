package enter

import "syscall"

// checkStreams makes sure that no descriptor of the command is a way around the mounts: a descriptor keeps the mount of its
// opening, which is the host's. /dev/null is replaced by the sandbox's own. Pipes, connected local sockets and terminals are
// harmless. Any other descriptor is refused: the command could change modes or walk the host's tree through it.
func checkStreams(files []uintptr) syscall.Errno {
	for _, file := range files {
		fd := int(file)
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return err.(syscall.Errno)
		}
		if fd == noteFD && st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return syscall.ENODEV
		}
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFIFO:
			continue
		case syscall.S_IFSOCK:
			if !isPair(fd) {
				return syscall.ENODEV
			}
		case syscall.S_IFCHR:
			if !isNull(st.Rdev) && !isTerminal(fd) {
				return syscall.ENODEV
			}
			if !isNull(st.Rdev) {
				continue
			}
			if errno := replaceNull(fd); errno != 0 {
				return errno
			}
		default:
			return syscall.ENODEV
		}
	}
	return 0
}

// isPair reports whether a socket is a local one that is connected for good. Any other can be connected elsewhere,
// in the network of its maker.
func isPair(fd int) bool {
	const domain, seqPacket = 39, 5
	family, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, domain)
	if err != nil || family != syscall.AF_UNIX {
		return false
	}
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	if err != nil || kind != syscall.SOCK_STREAM && kind != seqPacket {
		return false
	}
	_, err = syscall.Getpeername(fd)
	return err == nil
}

func isNull(device uint64) bool { return device == 1<<8|3 }

func isTerminal(fd int) bool {
	var attributes [64]byte // struct termios
	_, errno := ioctl(fd, syscall.TCGETS, &attributes)
	return errno == 0
}

// replaceNull opens /dev/null anew, where it belongs to the sandbox.
func replaceNull(fd int) syscall.Errno {
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = syscall.Dup3(null, fd, 0)
		syscall.Close(null)
	}
	errno, _ := err.(syscall.Errno)
	return errno
}

// The descriptors that a helper is started with, above the command's own three.
const (
	controlFD = 3
	planFD    = 4
	noteFD    = 5 // where the plan begins with Note
)
