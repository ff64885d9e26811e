package output

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Options are what a Log is made with.
type Options struct {
	// Open opens the payload that gets every byte. It is called at most once. Nil: there is none.
	Open func() (agenttool.Payload, error)

	Ring  int              // bytes of the newest output that are held in memory; 0: 1 MiB
	Spill int              // bytes above which the payload is opened, at most Ring; 0: 32 KiB
	Rings *Rings           // memory that the ring is taken from and given back to; nil: the log's own
	Now   func() time.Time // nil: time.Now
}

const (
	ringBytes  = 1 << 20
	spillBytes = 32 << 10
)

// Log keeps what a job says: every byte of both streams in the order in which they came, within fixed memory. All its
// methods may be called from any goroutine.
type Log struct {
	o Options

	// writing is held while the payload works: a slow disk holds up who writes, and nobody who reads. What mu guards
	// changes only while writing is held as well.
	writing sync.Mutex
	spilled bool // the payload was opened, or nearly

	mu      sync.Mutex
	ring    ring
	runs    runs
	streams [2]tally
	written time.Time
	changed chan struct{} // nil: nobody asked
	payload agenttool.Payload
	held    int64 // bytes that the payload took
	lost    error // why not every byte is in the payload
	closed  bool
	ref     *agenttool.Ref
	last    string // the last line of a closed log
}

// tally is what is known of one stream.
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
	return &Log{o: o, ring: ring{max: o.Ring, shared: o.Rings}}
}

// Write adds what a stream says. It never fails: what the payload does not take is still in the ring for a while. After
// Close it does nothing.
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

// Spill makes that every byte goes to the payload, however few there are.
func (l *Log) Spill() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if !l.closed {
		l.spill()
	}
}

// errNowhere is why bytes are not kept that nobody offered to keep.
var errNowhere = errors.New("only the newest output of this job is kept")

// spill opens the payload and moves what there is to it: all of it is in the ring still.
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

// keep passes bytes on to the payload, until it fails.
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

// Close ends the output and closes the payload, if there is one, and returns the reference to it. The error says why
// not every byte is in it. All can still be read; where the payload has every byte, it is read from there, and the ring
// is given back. Closing again returns the same.
func (l *Log) Close() (*agenttool.Ref, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.closed {
		return l.ref, l.lost
	}
	last := l.lastLine() // while the ring has it
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
func (l *Log) finish() (*agenttool.Ref, error) {
	if l.payload == nil {
		return nil, l.lost
	}
	ref, err := l.payload.Close()
	if l.lost != nil {
		err = l.lost
	}
	return &ref, err
}

// Changed returns a channel that is closed at the next Write or Close; once the log is closed, it is too. Ask for it
// before looking at what there is, and nothing is missed.
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

// announce wakes who waits for a change. The lock is held.
func (l *Log) announce() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}
