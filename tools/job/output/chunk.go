package output

import (
	"errors"
	"io"
)

// chunkBytes is the number of bytes read back at once.
const chunkBytes = 32 << 10

// Gap is a lost part of the output, with the reason.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"`
}

// chunk is a part of one stream's output, from an offset on. It is empty at the end.
type chunk struct {
	stream Stream
	known  bool
	from   int64
	b      []byte
}

func (c chunk) to() int64 { return c.from + int64(len(c.b)) }

// next reads the first bytes of the wanted streams in [off, to) into buf. If they are lost, it returns the gap
// instead.
func (l *Log) next(buf []byte, off, to int64, want Streams) (chunk, *Gap) {
	r := l.wanted(off, to, want)
	n, gap := l.fetch(buf[:min(int64(len(buf)), r.to-r.from)], r.from)
	if gap != nil {
		gap.To = min(gap.To, to)
	}
	return chunk{r.stream, r.known, r.from, buf[:n]}, gap
}

// wanted returns the first wanted run in [off, to), clipped to that range; an empty one at to if there is none.
func (l *Log) wanted(off, to int64, want Streams) run {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := l.runs.find(off); off < to; i++ {
		r := l.runs.get(i, l.ring.end)
		r.from, r.to = off, min(r.to, to)
		if want.has(r) {
			return r
		}
		off = r.to
	}
	return run{from: to, to: to}
}

// prev reads the last bytes of the wanted streams before off into buf. The chunk is empty if there are none, or if
// some are lost.
func (l *Log) prev(buf []byte, off int64, want Streams) chunk {
	r := l.wantedBefore(off, want)
	buf = buf[:min(int64(len(buf)), r.to-r.from)]
	c := chunk{r.stream, r.known, r.to - int64(len(buf)), buf}
	for n := 0; n < len(buf); {
		more, gap := l.fetch(buf[n:], c.from+int64(n))
		if gap != nil {
			return chunk{from: off}
		}
		n += more
	}
	return c
}

// wantedBefore returns the last wanted run before off, clipped at off.
func (l *Log) wantedBefore(off int64, want Streams) run {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := l.runs.find(off - 1); off > 0; i-- {
		r := l.runs.get(i, l.ring.end)
		r.to = off
		if want.has(r) {
			return r
		}
		off = r.from
	}
	return run{}
}

// fetch reads bytes at off, at most up to the end of the output, from the ring or the payload. If they are lost it
// returns a gap that begins at off.
func (l *Log) fetch(buf []byte, off int64) (int, *Gap) {
	if len(buf) == 0 {
		return 0, nil
	}
	l.mu.Lock()
	start, payload, held, lost := l.ring.start(), l.payload, l.held, l.lost
	if off >= start {
		defer l.mu.Unlock()
		return l.ring.read(buf, off), nil
	}
	l.mu.Unlock()
	if off < held {
		n, err := payload.ReadAt(buf[:min(int64(len(buf)), held-off)], off)
		if n > 0 {
			return n, nil
		}
		if lost = err; err == nil || errors.Is(err, io.EOF) {
			lost = errShort
		}
	}
	return 0, &Gap{From: off, To: start, Reason: lost.Error()}
}

// errShort is the reason for bytes that the payload accepted but does not contain.
var errShort = errors.New("the file of the output is shorter than the output written to it")

// resume returns the decoder state of a stream at an offset.
func (l *Log) resume(s Stream, at int64) decoder {
	past := make([]byte, min(lookBack, at))
	begin := len(past)
	for begin > 0 {
		c := l.prev(past[:begin], at, Only(s))
		if len(c.b) == 0 || !c.known && s != Stdout {
			break
		}
		begin -= len(c.b)
		copy(past[begin:], c.b)
		at = c.from
	}
	var d decoder
	var t text
	d.write(&t, past[begin:], 4*lookBack)
	return d
}
