package output

import (
	"bytes"

	"toolhost/agenttool/cut"
)

// scanBytes bounds the bytes scanned for one page.
const scanBytes = 4 << 20

// view builds the text of a page.
type view struct {
	log     *Log
	want    Streams
	plain   bool // without marks of the streams
	missing *Gap
	extent
	rendering
	progress
}

// extent is where a page begins, and how much it holds.
type extent struct {
	start int64 // beginning of the page
	limit int   // bytes of text
	lines int   // of text; 0: any number
}

// rendering builds the text.
type rendering struct {
	t        text
	decoders [2]*decoder
	turn     turn
}

// progress is how far the text goes.
type progress struct {
	ended int   // lines so far
	line  int   // length of the text up to its last newline
	next  int64 // the offset there
}

// textStream is the stream of a piece of text.
type textStream struct {
	stream  Stream
	unknown bool
}

// turn is the state of the last mark. The zero value is stdout without a mark.
type turn struct {
	textStream
	was           textStream // the speaker before
	before, after int        // length of the text before and after the mark
}

// read reads [from, to) until the page is full or a gap comes. It returns the beginning of the next page, and whether
// that page has something to read.
func (v *view) read(from, to int64, closed bool) (next int64, more bool) {
	buf := make([]byte, min(chunkBytes, to-from))
	v.t.b = make([]byte, 0, min(int64(v.limit), to-from))
	at, scanned := from, 0
	var last chunk // the last non-empty chunk
	for at < to && scanned < scanBytes {
		c, gap := v.log.next(buf, at, to, v.want)
		if gap != nil {
			if len(v.t.b) > 0 {
				return at, true
			}
			at = v.skip(gap)
			continue
		}
		n := v.write(c)
		if at = c.from + int64(n); n < len(c.b) {
			return v.full(c, n), true
		}
		if scanned += n; n > 0 {
			last = c
		}
	}
	switch {
	case at < to:
		more = true
	case !closed:
		at = v.hold(last, to)
	case from < to:
		v.close()
	}
	v.unturn()
	return at, more
}

// decoder returns the decoder of a stream, with the state at the beginning of the page.
func (v *view) decoder(s Stream) *decoder {
	if v.decoders[s] == nil {
		d := v.log.resume(s, v.start)
		v.decoders[s] = &d
	}
	return v.decoders[s]
}

// skip continues after a gap at the beginning of the page.
func (v *view) skip(gap *Gap) int64 {
	if v.missing == nil {
		v.missing = gap
	}
	v.missing.To, v.start = gap.To, gap.To
	v.decoders = [2]*decoder{}
	return gap.To
}

// write adds a chunk line by line and returns the number of bytes consumed: less than all if the page is full.
func (v *view) write(c chunk) (n int) {
	d := v.decoder(c.stream)
	if len(c.b) > 0 && !v.turnTo(textStream{c.stream, !c.known}) {
		return 0
	}
	for n < len(c.b) {
		if v.lines > 0 && v.ended == v.lines {
			return n
		}
		end := len(c.b)
		if i := bytes.IndexByte(c.b[n:], '\n'); i >= 0 {
			end = n + i + 1
		}
		if n += d.write(&v.t, c.b[n:end], v.limit); n < end {
			return n
		}
		if c.b[n-1] == '\n' {
			v.line, v.next = len(v.t.b), c.from+int64(n)
			v.ended++
		}
	}
	return n
}

// turnTo switches to s and adds a mark; it reports whether the page has room for the mark and some text.
func (v *view) turnTo(s textStream) bool {
	if s == v.turn.textStream || v.want.one() {
		return true
	}
	if v.unturn(); s == v.turn.textStream {
		return true
	}
	mark := v.mark(s)
	if len(v.t.b)+len(mark)+len(replacement)+1 > v.limit {
		return false
	}
	v.turn = turn{textStream: s, was: v.turn.textStream, before: len(v.t.b)}
	v.t.b = append(v.t.b, mark...)
	v.t.settle()
	v.turn.after = len(v.t.b)
	return true
}

// mark returns the mark of s, on a line of its own.
func (v *view) mark(s textStream) string {
	mark := "[" + s.stream.String() + "]\n"
	switch {
	case v.plain:
		mark = ""
	case s.unknown:
		mark = "[stdout or stderr]\n"
	}
	if n := len(v.t.b); n > 0 && v.t.b[n-1] != '\n' {
		return "\n" + mark
	}
	return mark
}

// unturn removes the last mark if no text follows it.
func (v *rendering) unturn() {
	if len(v.t.b) == v.turn.after && v.turn.textStream != v.turn.was {
		v.t.b = v.t.b[:v.turn.before]
		v.t.settle()
		v.turn = turn{textStream: v.turn.was, was: v.turn.was}
	}
}

// full ends a page that is full after n bytes of a chunk. A part of a token does not look like one, so that a word is left whole to the next page
// if it is output as it stands, with the character before it.
func (v *view) full(c chunk, n int) (next int64) {
	v.unturn()
	if v.line >= v.limit/2 {
		v.t.b = v.t.b[:v.line]
		return v.next
	}
	from := cut.Before(append(v.t.b, c.b[n]), len(v.t.b))
	if at := n - (len(v.t.b) - from); from >= v.limit/2 && at > 0 && bytes.Equal(c.b[at-1:n], v.t.b[from-1:]) && v.plainAt(c, at) {
		n, v.t.b = at, v.t.b[:from]
	}
	return c.from + int64(n)
}

// plainAt reports whether a chunk has text at an offset, and not the rest of a rune or of an escape sequence.
func (v *view) plainAt(c chunk, at int) bool {
	d := v.log.resume(c.stream, c.from+int64(at))
	return d.n == 0 && d.state == ground
}

// hold leaves an incomplete rune at the end to the next page, and returns the beginning of that page.
func (v *view) hold(last chunk, to int64) int64 {
	n := v.decoder(last.stream).n
	switch {
	case len(last.b) == 0 || n == 0:
		return to
	case n > len(last.b):
		return last.from
	}
	at := last.to() - int64(n)
	if v.log.resume(last.stream, at).n > 0 { // the preceding bytes were rendered as broken by this one: leave both to the next page
		v.t.b = v.t.b[:len(v.t.b)-len(replacement)]
	}
	return at
}

// close renders incomplete runes that remain at the end of the output.
func (v *view) close() {
	for s := range v.decoders {
		stream := Stream(s)
		if v.want.has(run{stream: stream, known: true}) && v.decoder(stream).n > 0 && v.turnTo(textStream{stream: stream}) {
			v.decoders[s].close(&v.t, v.limit)
		}
	}
}
