package output

import (
	"bytes"
	"context"
	"math"
)

// maxLine is the maximum size of a line. Longer lines are handled in parts.
const maxLine = 64 << 10

// Line is one line of the output, cleaned.
type Line struct {
	Number int64 // from 1, counting the newlines of the requested streams
	Stream Stream
	Text   string // without the newline
}

// lines reads the output line by line, separately for each stream: output of the other stream does not interrupt a
// line.
type lines struct {
	log  *Log
	want Streams
	position
	missing *Gap
	buf     []byte
	open    [2]*partial
	take    func(s Stream, number int64, line []byte)
	done    bool // take wants no more lines
}

// position is where the next line begins.
type position struct {
	at     int64 // everything before this offset was read
	number int64 // newlines before at; newlines before the first read byte do not count
}

// partial is the unfinished line of a stream.
type partial struct {
	d     decoder
	t     text
	grown bool
}

// advance reads up to offset to, and passes whole lines to take.
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

// line returns the unfinished line of a stream. A new one starts with the decoder state at this offset.
func (l *lines) line(s Stream) *partial {
	if l.open[s] == nil {
		l.open[s] = &partial{d: l.log.resume(s, l.at)}
	}
	return l.open[s]
}

// read consumes output of a stream.
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

// skip continues after a gap.
func (l *lines) skip(gap *Gap) {
	if l.missing == nil {
		l.missing = gap
	}
	l.missing.To, l.at = gap.To, gap.To
	l.open = [2]*partial{}
	l.number = l.log.linesBefore(gap.To, l.want)
}

// finish passes the unfinished lines to take.
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
