package output

import (
	"bytes"
	"time"

	"toolhost/agenttool"
)

// lastBytes is how much of the end is looked at for the last line.
const lastBytes = 4 << 10

// Stats is how much was said so far.
type Stats struct {
	Bytes     int64          // all; also the cursor of the end
	Out, Err  int64          // of each stream
	Lines     int64          // newlines
	LastLine  string         // the last line, of either stream, that is not blank, as far as it is within the last 4 KiB
	LastWrite time.Time      // zero: nothing was said
	Ref       *agenttool.Ref // the payload, when the log is closed; it lacks what Lost says
	Lost      *Gap           // what the payload lacks, once that is known; nil: nothing
	Closed    bool
}

// Stats returns how much was said so far.
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

// lastLine finds the last line that is not blank.
func (l *Log) lastLine() string {
	to, closed := l.end()
	v := view{log: l, start: max(0, to-lastBytes), limit: 4 * lastBytes, plain: true}
	v.read(v.start, to, closed)
	b := bytes.TrimSpace(v.t.b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}

// end returns where the output ends, and whether it has ended.
func (l *Log) end() (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.end, l.closed
}
