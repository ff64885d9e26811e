package output

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Options configure a Log.
type Options struct {
	// Open opens the payload for all output. It is called at most once. Nil: no payload.
	Open func() (agenttool.Payload, error)

	Ring  int              // bytes of the newest output kept in memory; 0: 1 MiB
	Spill int              // bytes after which the payload is opened, at most Ring; 0: 32 KiB
	Rings *Rings           // source of the ring's memory; nil: allocate and drop it
	Now   func() time.Time // nil: time.Now
}

const (
	ringBytes  = 1 << 20
	spillBytes = 32 << 10
)

// Log stores the output of a job: every byte of both streams in the order of arrival, within fixed memory. It is safe
// for concurrent use.
type Log struct {
	o Options

	// writing is held during writes to the payload: a slow disk blocks writers but no readers. The fields that mu
	// guards change only while writing is also held.
	writing sync.Mutex

	mu      sync.Mutex
	changed chan struct{} // nil: no caller waits
	closed  bool
	last    string // the last line of a closed log
	memory
	overflow
}

// overflow is the payload that a log writes to when its memory is full.
type overflow struct {
	spilled bool // opening the payload was tried; writing guards it
	payload agenttool.Payload
	held    int64 // bytes that the payload accepted
	lost    error // the reason why bytes are missing in the payload
	ref     *agenttool.Ref
}

// memory is the part of the output that is in memory.
type memory struct {
	ring    ring
	runs    runs
	streams [2]tally
	written time.Time
}

// tally counts the output of one stream.
type tally struct {
	bytes, lines int64
	head         head
}

// New returns an empty log.
func New(o Options) *Log {
	if o.Ring <= 0 {
		o.Ring = ringBytes
	}
	if o.Spill <= 0 {
		o.Spill = spillBytes
	}
	o.Spill = min(o.Spill, o.Ring)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{o: o, memory: memory{ring: ring{max: o.Ring, shared: o.Rings}}}
}

// Write adds output of a stream. It never fails: bytes that the payload does not accept stay in the ring for a while.
// After Close it does nothing.
func (l *Log) Write(s Stream, p []byte) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.closed || len(p) == 0 {
		return
	}
	if l.spilled || l.ring.end+int64(len(p)) > int64(l.o.Spill) {
		l.spill()
		l.keep(p)
	}
	lines, now := int64(bytes.Count(p, newline)), l.o.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs.add(l.ring.end, s)
	t := &l.streams[s]
	t.head.write(p, l.ring.end)
	t.bytes += int64(len(p))
	t.lines += lines
	l.ring.write(p)
	l.written = now
	l.announce()
}

var newline = []byte{'\n'}

// Spill makes the log write all output to the payload, however short it is.
func (l *Log) Spill() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if !l.closed {
		l.spill()
	}
}

// errNowhere is the reason for lost bytes of a log without a payload.
var errNowhere = errors.New("only the newest output of this job is kept")

// spill opens the payload and writes the output so far to it: all of it is still in the ring.
func (l *Log) spill() {
	if l.spilled {
		return
	}
	l.spilled = true
	payload, err := agenttool.Payload(nil), error(errNowhere)
	if l.o.Open != nil {
		payload, err = l.o.Open()
	}
	l.mu.Lock()
	l.payload, l.lost = payload, err
	l.mu.Unlock()
	l.keep(l.ring.b)
}

// keep passes bytes on to the payload, until that fails.
func (l *Log) keep(p []byte) {
	if l.lost != nil || len(p) == 0 {
		return
	}
	n, err := l.payload.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held += int64(n)
	l.lost = err
}

// Close ends the output, closes the payload if there is one, and returns its reference. The error is the reason why
// bytes are missing in it. The output stays readable; if the payload is complete, it is read from there, and the ring
// is released. Further calls return the same result.
func (l *Log) Close() (*agenttool.Ref, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.closed {
		return l.ref, l.lost
	}
	last := l.lastLine() // while the ring still has it
	ref, lost := l.finish()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.ref, l.lost, l.last = true, ref, lost, last
	l.runs.clip()
	if ref != nil && lost == nil {
		l.ring.drop()
	} else {
		l.ring.clip()
	}
	l.announce()
	return ref, lost
}

// finish closes the payload.
func (l *overflow) finish() (*agenttool.Ref, error) {
	if l.payload == nil {
		return nil, l.lost
	}
	ref, err := l.payload.Close()
	if l.lost != nil {
		err = l.lost
	}
	return &ref, err
}

// Changed returns a channel that is closed at the next Write or Close, or is already closed if the log is. Callers
// get it before they check the output, so that they miss no change.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
		if l.closed {
			close(l.changed)
		}
	}
	return l.changed
}

// announce wakes the callers that wait for a change. The caller holds the lock.
func (l *Log) announce() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Stats returns the size of the output so far.
func (l *Log) Stats() Stats {
	s := l.stats()
	if !s.Closed {
		s.LastLine = l.lastLine()
	}
	return s
}

func (l *Log) stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, errs := &l.streams[Stdout], &l.streams[Stderr]
	s := Stats{
		Bytes: l.ring.end, Out: out.bytes, Err: errs.bytes, Lines: out.lines + errs.lines,
		LastLine: l.last, LastWrite: l.written, Ref: l.ref, Closed: l.closed,
	}
	if l.lost != nil {
		s.Lost = &Gap{From: l.held, To: l.ring.end, Reason: l.lost.Error()}
		if l.ref != nil {
			s.Lost.From = l.ref.SizeBytes
		}
	}
	return s
}

// lastLine returns the last non-blank line.
func (l *Log) lastLine() string {
	to, closed := l.end()
	v := view{log: l, extent: extent{start: max(0, to-lastBytes), limit: 4 * lastBytes}, plain: true}
	v.read(v.start, to, closed)
	b := bytes.TrimSpace(v.t.b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}

// end returns the end of the output, and whether the output is closed.
func (l *Log) end() (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.end, l.closed
}
