// Package streams prepares stdin, stdout and stderr for use: other processes share them and can change how they behave.
package streams

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Steady reads and writes a stream that other processes share. One of them can make it non-blocking at any time, as node does with
// its pipes: Steady then waits until the stream is ready, where the file alone would fail.
type Steady struct{ *os.File }

// Read implements io.Reader.
func (s Steady) Read(b []byte) (int, error) {
	for {
		n, err := s.File.Read(b)
		if n > 0 || !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		if err := s.wait(unix.POLLIN); err != nil {
			return 0, err
		}
	}
}

// Write implements io.Writer.
func (s Steady) Write(b []byte) (written int, err error) {
	for {
		n, err := s.File.Write(b[written:])
		if written += n; !errors.Is(err, syscall.EAGAIN) {
			return written, err
		}
		if err := s.wait(unix.POLLOUT); err != nil {
			return written, err
		}
	}
}

// Takes reports whether the stream has room for text now.
func (s Steady) Takes() bool {
	ready, err := s.poll(unix.POLLOUT, 0)
	return err == nil && ready&unix.POLLOUT != 0
}

// wait returns when the stream is ready, has ended or has failed.
func (s Steady) wait(events int16) error {
	_, err := s.poll(events, -1)
	return err
}

// poll returns which of the events are there, after so many milliseconds at most; -1: however long it takes.
func (s Steady) poll(events int16, milliseconds int) (ready int16, err error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		of := []unix.PollFd{{Fd: int32(fd), Events: events}}
		for failed = unix.EINTR; errors.Is(failed, unix.EINTR); {
			_, failed = unix.Poll(of, milliseconds)
		}
		ready = of[0].Revents
	})
	return ready, errors.Join(err, failed)
}

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
