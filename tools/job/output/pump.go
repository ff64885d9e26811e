package output

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	firstRead = 4 << 10                // bytes that are read at once
	fullRead  = 64 << 10               // once a reading has filled that
	breath    = 200 * time.Microsecond // after a full reading: who floods leaves the processors to others, at 200 MB/s
	maxPipe   = 1 << 20                // bytes that a pipe holds at most, unless the machine's administrator allows more
)

// Pumping is a goroutine that reads what a command writes into a log.
type Pumping struct {
	log    *Log
	stream Stream
	from   *os.File
	buf    []byte
	done   chan struct{}

	draining sync.Mutex
	swept    chan struct{} // gets one for each deadline that passed
}

// Pump starts to read from into l, as stream s: the reading end of a pipe, or the master of a terminal. It goes on
// until everybody has closed the other end, or the caller closes this one, which stays the caller's in any case.
func Pump(l *Log, s Stream, from *os.File) *Pumping {
	p := &Pumping{
		log: l, stream: s, from: from, buf: make([]byte, firstRead),
		done: make(chan struct{}), swept: make(chan struct{}, 1),
	}
	go func() {
		defer close(p.done)
		p.run()
	}()
	return p
}

// Done is closed when nothing more comes: all that was written is in the log.
func (p *Pumping) Done() <-chan struct{} { return p.done }

// Open reports whether somebody may still write.
func (p *Pumping) Open() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Drain waits until nothing more can come from any of the pumps, but at most for d. What was written before that is in
// the log then. It reports whether somebody may still write; those pumps go on.
func Drain(d time.Duration, pumps ...*Pumping) (open bool) {
	deadline := time.Now().Add(d)
	late := make([]<-chan time.Time, len(pumps))
	for i, p := range pumps {
		p.draining.Lock()
		defer p.draining.Unlock()
		if p.from.SetReadDeadline(deadline) != nil { // closed, or not a file that one can wait for
			late[i] = time.After(d)
		}
	}
	for i, p := range pumps {
		select {
		case <-p.done:
		case <-p.swept:
		case <-late[i]:
		}
		open = open || p.Open()
	}
	return open
}

// run reads until the end. On a terminal that is EIO, which counts when it comes twice: the kernel looks first for bytes and
// then for whether the other end is closed, so that what was written between the two is behind the first one.
func (p *Pumping) run() {
	for ended := false; ; {
		n, err := p.from.Read(p.buf)
		if errors.Is(err, unix.EIO) && !ended {
			ended = true
			continue
		}
		full := n == len(p.buf)
		for held := p.write(n); held > 0; held = p.write(n) {
			if n = held + p.more(held); n == held {
				p.log.Write(p.stream, p.buf[:held])
				break
			}
		}
		switch {
		case full && len(p.buf) < fullRead:
			p.buf = make([]byte, fullRead)
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !p.sweep() {
				return
			}
		case err != nil:
			return
		}
	}
}

// write gives the first n bytes of the buffer to the log. Of a full one it holds back the line that the buffer cut, so that nobody
// else's words come into its midst, and returns how much that is.
func (p *Pumping) write(n int) (held int) {
	cut := n
	if n == len(p.buf) {
		cut = bytes.LastIndexByte(p.buf, '\n') + 1
		if n == fullRead {
			time.Sleep(breath)
		}
	}
	if cut == 0 {
		cut = n // one line, and longer than that
	}
	if cut > 0 {
		p.log.Write(p.stream, p.buf[:cut])
	}
	return copy(p.buf, p.buf[cut:n])
}

// more reads what is there behind the bytes that are held, without waiting.
func (p *Pumping) more(held int) (n int) {
	raw, err := p.from.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), p.buf[held:]) }) // an error is found by the next reading
	return max(n, 0)
}

// sweep reads what is there, without waiting, and makes ready to go on. After a deadline Read does not look any more,
// and on a busy machine the deadline may pass before this goroutine had its turn. What a command wrote before it ended
// is not more than a pipe holds; somebody who goes on writing is not followed beyond that.
func (p *Pumping) sweep() (open bool) {
	raw, err := p.from.SyscallConn()
	if err != nil {
		return false
	}
	open = true
	err = raw.Control(func(fd uintptr) {
		for read := 0; open && read < maxPipe; {
			n, err := unix.Read(int(fd), p.buf)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if errors.Is(err, unix.EAGAIN) {
				return
			}
			open = err == nil && n > 0
			p.log.Write(p.stream, p.buf[:max(n, 0)])
			read += n
		}
	})
	if !open || err != nil || p.from.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	p.swept <- struct{}{}
	return true
}
