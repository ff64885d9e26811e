package output

import (
	"bytes"
	"time"

	"toolhost/agenttool"
)

// lastBytes is the part of the end that is searched for the last line.
const lastBytes = 4 << 10

// Stats describes the output so far.
type Stats struct {
	Bytes     int64          // of both streams; also the cursor of the end
	Out, Err  int64          // of each stream
	Lines     int64          // newlines
	LastLine  string         // the last non-blank line of either stream, as far as it lies within the last 4 KiB
	LastWrite time.Time      // zero: no output
	Ref       *agenttool.Ref // the payload, when the log is closed; see Lost for its gap
	Lost      *Gap           // a part that the payload lacks, once that is known; nil: none
	Closed    bool
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
	v := view{log: l, start: max(0, to-lastBytes), limit: 4 * lastBytes, plain: true}
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
