package tree

import (
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// safely are the flags of every open: none blocks, none follows a link at the end of the path.
const safely = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// retry repeats a call that a signal or a rename elsewhere interrupted.
func retry(call func() error) (err error) {
	for range 100 {
		if err = call(); err != syscall.EINTR && err != syscall.EAGAIN {
			return err
		}
	}
	return err
}

// openStepwise opens rel below the directory root one component at a time: without openat2 there is no other way to
// refuse links in the middle.
func openStepwise(root int, rel string, flags int) (fd int, err error) {
	at := root
	for {
		name, rest, more := strings.Cut(rel, "/")
		if name == ".." {
			err = syscall.EXDEV
			break
		}
		step := safely | unix.O_DIRECTORY
		if !more {
			step = flags
		}
		fd, err = openIn(at, name, step)
		if err != nil || !more {
			break
		}
		if at != root {
			unix.Close(at)
		}
		at, rel = fd, rest
	}
	if at != root {
		unix.Close(at)
	}
	return fd, err
}

// openIn opens one name in the directory dir.
func openIn(dir int, name string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dir, name, flags, 0)
		return err
	})
	return fd, err
}

// unsupported reports whether a system call is missing or forbidden as a whole.
func unsupported(err error) bool {
	return errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM)
}
