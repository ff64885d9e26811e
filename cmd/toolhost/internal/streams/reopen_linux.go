package streams

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pollable returns a pipe on stdin as a file that the runtime waits for without giving up a thread: a call then runs on
// the thread that read it, which saves waking another one for each message. It is opened anew, since the flags of stdin
// itself are shared with the process that started this one. Anything else is returned as it is.
func Pollable(stdin *os.File) *os.File {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return stdin
	}
	f, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return stdin
	}
	return f
}

// blocking returns a stream of this process as a file in blocking mode: f itself, or f opened anew where the process that
// gave it to us made it non-blocking, as node does. The flag belongs to all that share the open file, so it is not taken
// away.
func blocking(fd int, f *os.File) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK == 0 {
		return f, err
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), flags&unix.O_ACCMODE|unix.O_NOCTTY, 0)
}
