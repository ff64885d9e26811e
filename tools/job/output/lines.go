package output

import (
	"bytes"
	"context"
	"math"
)

// maxLine is how long a line is that is looked at as one. A longer one is looked at in parts.
const maxLine = 64 << 10

// Line is one line of the output, cleaned.
type Line struct {
	Number int64 // from 1: at which newline of the streams that were asked for it ends
	Stream Stream
	Text   string // without the newline
}

// lines reads the output line by line, each stream for itself: a line is whole whatever the other stream said in the
// midst of it.
type lines struct {
	log     *Log
	want    Streams
	at      int64 // what is before was read
	number  int64 // newlines before at; those before the first byte that was read do not count
	missing *Gap
	buf     []byte
	open    [2]*partial
	take    func(s Stream, number int64, line []byte)
	done    bool // take has what it wanted
}

// partial is the line that a stream has begun.
type partial struct {
	d     decoder
	t     text
	grown bool
}

// advance reads up to to, and gives whole lines to take.
func (l *lines) advance(ctx context.Context, to int64) error {
	if n := min(chunkBytes, to-l.at); n > int64(len(l.buf)) {
		l.buf = make([]byte, n)
	}
	for l.at < to && !l.done {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		c, gap := l.log.next(l.buf, l.at, to, l.want)
		if gap != nil {
			l.skip(gap)
			continue
		}
		if len(c.b) > 0 {
			l.read(c)
		}
		l.at = c.to()
	}
	return nil
}

// line returns what a stream has begun. The first time, it knows what came before.
func (l *lines) line(s Stream) *partial {
	if l.open[s] == nil {
		l.open[s] = &partial{d: l.log.resume(s, l.at)}
	}
	return l.open[s]
}

// read takes what a stream says.
func (l *lines) read(c chunk) {
	p := l.line(c.stream)
	p.d.write(&p.t, c.b, math.MaxInt)
	p.grown = true
	rest := p.t.b
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		l.number++
		l.take(c.stream, l.number, rest[:i])
		rest = rest[i+1:]
	}
	if len(rest) > maxLine {
		l.take(c.stream, l.number+1, rest)
		rest = nil
	}
	p.t.drop(len(p.t.b) - len(rest))
}

// skip goes behind a gap.
func (l *lines) skip(gap *Gap) {
	if l.missing == nil {
		l.missing = gap
	}
	l.missing.To, l.at = gap.To, gap.To
	l.open = [2]*partial{}
	l.number = l.log.linesBefore(gap.To, l.want)
}

// linesBefore returns how many newlines the streams wrote before off. What is behind it is in the ring, or else is lost
// as well.
func (l *Log) linesBefore(off int64, want Streams) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.streams {
		if want.has(run{stream: Stream(s), known: true}) {
			n += l.streams[s].lines
		}
	}
	off = max(off, l.ring.start())
	for i := l.runs.find(off); off < l.ring.end; i++ {
		r := l.runs.get(i, l.ring.end)
		if want.has(r) {
			a, b := l.ring.parts(off, r.to)
			n -= int64(bytes.Count(a, newline) + bytes.Count(b, newline))
		}
		off = r.to
	}
	return n
}

// finish gives the lines to take that have no newline yet.
func (l *lines) finish(closed bool) {
	for s, p := range l.open {
		if p == nil {
			continue
		}
		if closed {
			p.d.close(&p.t, math.MaxInt)
		}
		if len(p.t.b) > 0 {
			l.number++
			l.take(Stream(s), l.number, p.t.b)
		}
	}
}
