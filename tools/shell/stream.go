package shell

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// chunkBytes is how much is read at once.
const chunkBytes = 32 << 10

// maxPipe is what a pipe holds at most, unless the administrator of the machine allows more.
const maxPipe = 1 << 20

// stream is the reading end of a pipe whose other end a command holds.
type stream struct {
	*capture
	pipe *os.File
	buf  []byte
	open bool          // the last pump ended before the end of the file
	done chan struct{} // closed when the pump has ended
}

func newStream(name string, r agenttool.Reporter, pipe *os.File) *stream {
	return &stream{capture: newCapture(name, r), pipe: pipe, buf: make([]byte, chunkBytes)}
}

// start reads in the background until the end of the file or the pipe's deadline.
func (s *stream) start() {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.open = s.pump()
	}()
}

func (s *stream) pump() (open bool) {
	for {
		n, err := s.pipe.Read(s.buf)
		if n > 0 {
			_, _ = s.Write(s.buf[:n]) // never fails
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return s.sweep()
		}
		if err != nil {
			return false
		}
	}
}

// sweep reads what is in the pipe, without waiting. After a deadline Read does not look any more, and on a busy
// machine the deadline may pass before this goroutine had its turn. What the command wrote before it ended is not
// more than a pipe holds; somebody who goes on writing is not followed beyond that.
func (s *stream) sweep() (open bool) {
	raw, err := s.pipe.SyscallConn()
	if err != nil {
		return false
	}
	open = true
	err = raw.Control(func(fd uintptr) {
		for read := 0; open && read < maxPipe; {
			n, err := unix.Read(int(fd), s.buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil { // EAGAIN: empty
				return
			}
			_, _ = s.Write(s.buf[:n]) // never fails
			read, open = read+n, n > 0
		}
	})
	return open && err == nil
}

// discard reads until nobody can write any more.
func (s *stream) discard() {
	defer s.pipe.Close()
	_ = s.pipe.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, s.pipe)
}

// drain lets started pumps go on for at most d and waits for their end. It reports whether a pipe is still open.
func drain(streams []*stream, d time.Duration) (open bool) {
	deadline := time.Now().Add(d)
	for _, s := range streams {
		_ = s.pipe.SetReadDeadline(deadline) // a pipe always has deadlines
	}
	for _, s := range streams {
		<-s.done
		open = open || s.open
	}
	return open
}

// resume starts pumps again that a drain stopped, for at most d.
func resume(streams []*stream, d time.Duration) (open bool) {
	for _, s := range streams {
		if s.open {
			_ = s.pipe.SetReadDeadline(time.Now().Add(d))
			s.start()
		}
	}
	return drain(streams, d)
}
