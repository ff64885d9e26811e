package output

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
)

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

// linesBefore returns the number of newlines of the streams before off: the total minus those after off in the ring. If
// output after off has left the ring it is lost as well, and counts as before off.
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

// Tail returns the last lines of the output, at most max bytes of them, in a page that ends at the output's end. An
// unfinished last line counts. max and the marks are those of Read.
func (l *Log) Tail(lines, max int, streams Streams) Page {
	to, closed := l.end()
	for size := int64(ringBytes); ; size = size * 3 / 4 {
		from := l.linesBack(lines, to, size, streams)
		if p := l.read(Request{From: from, Max: max, Streams: streams}, to, closed); !p.More || from == to {
			return p
		}
	}
}

// linesBack returns the beginning of the last n lines before to, or of as many as begin within the last size bytes.
func (l *Log) linesBack(n int, to, size int64, want Streams) int64 {
	f := lineFinder{lines: n, from: to}
	buf := make([]byte, min(chunkBytes, size))
	at := to
	for size > 0 && n > 0 {
		c := l.prev(buf[:min(int64(len(buf)), size)], at, want)
		if len(c.b) == 0 { // the beginning of the output, or a gap
			return at
		}
		size -= int64(len(c.b))
		if at = c.from; f.back(c) {
			return f.from
		}
	}
	if f.from == to { // not even one complete line
		return at
	}
	return f.from
}

// Read returns the text from a cursor on. It does not block.
//
// A page of both streams marks changes of the stream: a line "[stderr]" precedes a run of stderr, "[stdout]" precedes
// stdout that follows it, and "[stdout or stderr]" precedes output whose label is lost. A page that begins with
// stdout has no mark. A page of one stream has no marks, and includes output whose label is lost.
//
// A full page ends at a newline, if there is one in its second half, or else before the word that it would split. A page ends before a gap. While the output is
// still open, an incomplete rune at its end is left to the next page.
func (l *Log) Read(r Request) Page {
	end, closed := l.end()
	return l.read(r, end, closed)
}

// read reads up to offset to, the end of the output a moment ago.
func (l *Log) read(r Request, to int64, closed bool) Page {
	if r.Max <= 0 {
		r.Max = pageBytes
	}
	from := min(max(r.From, 0), to)
	v := view{log: l, want: r.Streams, extent: extent{start: from, limit: max(r.Max, minPage), lines: r.Lines}}
	p := Page{From: from}
	p.Next, p.More = v.read(from, to, closed)
	p.Text, p.Missing = string(v.t.b), v.missing
	p.Binary = binaryKind(l.sample(v.start, p.Next, r.Streams))
	return p
}

// Grep searches every line of the streams, including an incomplete last one, and counts all matches. It returns the
// first ones, together at most max bytes in the format of String. When ctx ends, it returns the matches so far and
// the cause.
func (l *Log) Grep(ctx context.Context, re *regexp.Regexp, max int, streams Streams) (Matches, error) {
	to, closed := l.end()
	g := grep{re: re, room: max}
	in := lines{log: l, want: streams, take: g.take}
	err := in.advance(ctx, to)
	if err == nil {
		in.finish(closed)
	}
	g.found.Missing = in.missing
	return g.found, err
}

// Match returns a search for re in the lines of the streams from a cursor on.
//
//	m := log.Match(re, cursor, 0)
//	for {
//		changed := log.Changed()
//		line, ok, err := m.Step(ctx)
//		if ok || err != nil {
//			return line, err
//		}
//		select {
//		case <-changed:
//		case <-ctx.Done():
//		}
//	}
func (l *Log) Match(re *regexp.Regexp, from int64, streams Streams) *Match {
	to, _ := l.end()
	m := &Match{re: re}
	m.in = lines{log: l, want: streams, position: position{at: min(max(from, 0), to)}, take: m.take}
	return m
}
