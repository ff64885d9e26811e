package output

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	firstRead = 4 << 10                // bytes that are read at once
	fullRead  = 64 << 10               // after a read has filled the smaller buffer
	breath    = 200 * time.Microsecond // pause after a full read: limits a flood to some 200 MB/s and leaves the processors to others
	maxPipe   = 1 << 20                // largest pipe buffer, unless the machine's administrator allows more
)

// Pumping is a goroutine that copies a command's output to a log.
type Pumping struct {
	log    *Log
	stream Stream
	from   *os.File
	buf    []byte
	done   chan struct{}

	draining sync.Mutex
	swept    chan struct{} // receives a value for each expired deadline
}

// Pump starts to copy from, the reading end of a pipe or the master of a terminal, into l as stream s. It stops when
// all writers have closed the other end, or the caller closes from, which the caller owns in any case.
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

// Done returns a channel that is closed when all output is in the log and no more can come.
func (p *Pumping) Done() <-chan struct{} { return p.done }

// Open reports whether a process may still write.
func (p *Pumping) Open() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Drain waits until no more output can come from any of the pumps, but at most for d. All earlier output is in the
// log then. It reports whether a process may still write; those pumps continue.
func Drain(d time.Duration, pumps ...*Pumping) (open bool) {
	deadline := time.Now().Add(d)
	late := make([]<-chan time.Time, len(pumps))
	for i, p := range pumps {
		p.draining.Lock()
		defer p.draining.Unlock()
		if p.from.SetReadDeadline(deadline) != nil { // closed, or a file without deadlines
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

// run reads until the end. On a terminal the end is EIO, which counts only when it comes twice: the kernel first
// checks for bytes and then whether the other end is closed, so bytes written in between follow the first EIO.
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

// write writes the first n bytes of the buffer to the log. If the buffer is full it holds back an incomplete last
// line, so that output of the other stream does not split it, and returns the size of that line.
func (p *Pumping) write(n int) (held int) {
	cut := n
	if n == len(p.buf) {
		cut = bytes.LastIndexByte(p.buf, '\n') + 1
		if n == fullRead {
			time.Sleep(breath)
		}
	}
	cut = cmp.Or(cut, n) // a single line that is longer than the buffer
	if cut > 0 {
		p.log.Write(p.stream, p.buf[:cut])
	}
	return copy(p.buf, p.buf[cut:n])
}

// more reads available bytes into the buffer after the first held bytes, without waiting.
func (p *Pumping) more(held int) (n int) {
	raw, err := p.from.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), p.buf[held:]) }) // the next read finds the error
	return max(n, 0)
}

// sweep reads the available bytes without waiting, and prepares for further reads. After a deadline Read returns no
// data, and on a busy machine the deadline may expire before this goroutine runs. A command can leave no more than a
// pipe's capacity; output of a process that continues writing is not followed beyond that.
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
