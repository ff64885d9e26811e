package output

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxPending  = 8 << 10 // bytes of a line that a carriage return can still replace
	maxSequence = 8 << 10 // maximum bytes of an escape sequence
	replacement = "\uFFFD"
)

// text is cleaned text under construction.
type text struct {
	b        []byte
	line     int  // beginning of the part that can still be replaced
	returned bool // the last character was a carriage return: further text other than a newline replaces the line
}

// begin prepares for text that starts with b.
func (t *text) begin(b byte) {
	if t.returned && b != '\n' {
		t.b = t.b[:t.line]
	}
	t.returned = false
}

// add appends text without control characters other than newline and tab.
func (t *text) add(p []byte) {
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		t.line = len(t.b) + i + 1
	}
	t.b = append(t.b, p...)
	if len(t.b)-t.line > maxPending {
		t.line = len(t.b)
	}
}

// back removes the last rune of the line.
func (t *text) back() {
	_, n := utf8.DecodeLastRune(t.b[t.line:])
	t.b = t.b[:len(t.b)-n]
}

// settle makes all text so far final.
func (t *text) settle() { t.line, t.returned = len(t.b), false }

// drop removes the first n bytes.
func (t *text) drop(n int) {
	t.b = t.b[:copy(t.b, t.b[n:])]
	t.line = max(0, t.line-n)
}

// decoder converts output to text, in chunks cut anywhere. Its state depends only on the last lookBack bytes: ESC,
// newline, BEL, CAN and SUB lead from any state to the same one, and a sequence without them has a bounded length.
type decoder struct {
	state  escape
	hidden int // bytes of the sequence after its ESC
	cut    [utf8.UTFMax]byte
	n      int // bytes in cut, of a rune that is still incomplete
}

const lookBack = maxSequence + utf8.UTFMax

// escape is the state of a decoder within an escape sequence.
type escape uint8

const (
	ground  escape = iota
	escaped        // after ESC
	control        // in a control sequence, ESC [ … final
	hiding         // in a string, ESC ] … up to BEL or ESC \
)

// write appends the text of p to t. It stops before t exceeds limit bytes, and returns the number of bytes of p
// consumed.
func (d *decoder) write(t *text, p []byte, limit int) int {
	for at := 0; at < len(p); {
		rest, n, ok := p[at:], 0, true
		switch {
		case d.state != ground:
			n = d.skip(rest) // may be 0: then the state has changed
		case d.n > 0:
			n, ok = d.join(t, rest[0], limit)
		case rest[0] < ' ' && !plain[rest[0]]:
			n = d.act(t, rest[0])
		default:
			n, ok = d.add(t, rest, limit)
		}
		if !ok {
			return at
		}
		at += n
	}
	return len(p)
}

// close ends the output: an incomplete rune becomes final.
func (d *decoder) close(t *text, limit int) {
	if d.n > 0 && len(t.b)+len(replacement) <= limit {
		t.begin(replacement[0])
		t.add([]byte(replacement))
		d.n = 0
	}
}

// plain marks the bytes that are text by themselves.
var plain = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= ' ' && b <= '~' || b == '\n' || b == '\t'
	}
	return t
}()

// plainPrefix returns the number of bytes at the start of p that are plain text. Runes from U+0080 to U+009F are
// 8-bit control characters.
func plainPrefix(p []byte) int {
	for i := 0; ; {
		for i < len(p) && plain[p[i]] {
			i++
		}
		if i == len(p) {
			return i
		}
		r, n := utf8.DecodeRune(p[i:])
		if r < 0xa0 || n == 1 {
			return i
		}
		i += n
	}
}

// add consumes the plain text at the start of p, as far as it fits, or else one other byte.
func (d *decoder) add(t *text, p []byte, limit int) (n int, ok bool) {
	if n = plainPrefix(p); n == 0 {
		return d.join(t, p[0], limit)
	}
	t.begin(p[0])
	if room := max(limit-len(t.b), 0); n > room {
		n = plainPrefix(p[:room])
	}
	if n > 0 {
		t.add(p[:n])
	}
	return n, n > 0
}

// join consumes the next byte of a rune. A byte that cannot follow the bytes before it is left.
func (d *decoder) join(t *text, b byte, limit int) (n int, ok bool) {
	d.cut[d.n] = b
	c := d.cut[:d.n+1]
	if !utf8.FullRune(c) {
		d.n++
		return 1, true
	}
	n, room := 1, limit-len(t.b)
	if r, size := utf8.DecodeRune(c); size < len(c) { // b also needs room: an invalid sequence is not split
		c, n, room = []byte(replacement), 0, room-utf8.UTFMax
	} else if size == 1 && b >= utf8.RuneSelf {
		c = []byte(replacement)
	} else if r < 0xa0 {
		c = nil
	}
	if len(c) > room {
		return 0, false
	}
	d.n = 0
	if len(c) > 0 {
		t.begin(c[0])
		t.add(c)
	}
	return n, true
}

// act handles a control character.
func (d *decoder) act(t *text, b byte) int {
	switch b {
	case '\x1b':
		d.state, d.hidden = escaped, 0
	case '\r':
		t.returned = true
	case '\b':
		t.back()
	}
	return 1
}

// skip consumes bytes of an escape sequence and returns their number. A byte that cannot belong to one ends it and is
// left to be handled as text. A newline always ends it, so that an unfinished sequence hides no more than its line.
func (d *decoder) skip(p []byte) (n int) {
	for ; n < len(p) && d.state != ground; n++ {
		switch b := p[n]; {
		case d.hidden == maxSequence:
			d.state = ground
			return n
		case d.state == hiding:
			return n + d.skipString(p[n:])
		case b < ' ' || b > '~':
			d.state = ground
			return n
		case d.state == control:
			if b >= '@' {
				d.state = ground
			}
		case b == '[':
			d.state = control
		case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
			d.state = hiding
		case b >= '0':
			d.state = ground
		}
		d.hidden++
	}
	return n
}

// skipString consumes the inside of a string.
func (d *decoder) skipString(p []byte) int {
	p = p[:min(len(p), maxSequence-d.hidden)]
	i := bytes.IndexAny(p, "\x1b\a\n\x18\x1a")
	if i < 0 {
		d.hidden += len(p)
		return len(p)
	}
	d.state = ground // an ESC may begin the end of the string, and a newline is text
	if p[i] == '\x1b' || p[i] == '\n' {
		return i
	}
	return i + 1
}
