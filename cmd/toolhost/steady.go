package main

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// steady reads and writes a stream that other processes have too. One of them can make it non-blocking at any time, as node
// does with its pipes: then it waits until the stream is ready, where the file alone would fail.
type steady struct{ *os.File }

// Read implements io.Reader.
func (s steady) Read(b []byte) (int, error) {
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
func (s steady) Write(b []byte) (written int, err error) {
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

// wait returns when the stream is ready, has ended or has failed.
func (s steady) wait(events int16) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for failed = unix.EINTR; errors.Is(failed, unix.EINTR); {
			_, failed = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, -1)
		}
	})
	return errors.Join(err, failed)
}
