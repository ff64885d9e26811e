package shell

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// maxPending is how much of a line a carriage return can still take back. What is before that is text.
const maxPending = 8 << 10

// cleaner turns what a program writes into text: escape sequences go, a line that was drawn several times with
// carriage returns keeps its last state, backspaces take back, other control characters go, invalid UTF-8 becomes
// U+FFFD. It takes chunks as they come, cut anywhere, and holds at most one line and one rune back. Newlines are
// all kept.
type cleaner struct {
	sink     func(text []byte)
	line     []byte // the line so far, that \r and \b can change
	cut      []byte // the start of a rune whose rest is in the next chunk
	returned bool   // a \r came last: what follows replaces the line, unless it is the newline
	state    escape
}

// escape is where in an escape sequence a cleaner is.
type escape uint8

const (
	ground  escape = iota
	escaped        // after ESC
	control        // in a control sequence, ESC [ … final
	text           // in a string, ESC ] … up to BEL or ESC \
	textEnd        // after ESC in a string
)

func (c *cleaner) write(p []byte) {
	if len(c.cut) > 0 {
		p, c.cut = append(c.cut, p...), nil
	}
	for len(p) > 0 {
		if c.state != ground {
			p = p[c.skip(p):]
			continue
		}
		if n := plainPrefix(p); n > 0 {
			c.add(p[:n])
			p = p[n:]
			continue
		}
		p = p[c.one(p):]
	}
}

// close gives what was held back to the sink.
func (c *cleaner) close() {
	if len(c.cut) > 0 {
		c.cut = nil
		c.add([]byte("\uFFFD"))
	}
	c.sink(c.line)
	c.line = nil
}

// plainPrefix is the number of bytes at the start of p that are printable ASCII, tab or newline.
func plainPrefix(p []byte) int {
	for i, b := range p {
		if (b < ' ' && b != '\n' && b != '\t') || b > '~' {
			return i
		}
	}
	return len(p)
}

// add takes text without control characters other than newline and tab.
func (c *cleaner) add(p []byte) {
	if c.returned {
		c.returned = false
		if p[0] != '\n' {
			c.line = c.line[:0]
		}
	}
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		c.sink(c.line)
		c.sink(p[:i+1])
		c.line, p = c.line[:0], p[i+1:]
	}
	if len(c.line)+len(p) > maxPending {
		c.sink(c.line)
		c.sink(p)
		c.line, p = c.line[:0], nil
	}
	c.line = append(c.line, p...)
}

// one takes the control character or rune at the start of p and returns its length.
func (c *cleaner) one(p []byte) int {
	switch b := p[0]; {
	case b == '\x1b':
		c.state = escaped
		return 1
	case b == '\r':
		c.returned = true
		return 1
	case b == '\b':
		_, n := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-n]
		return 1
	case b < utf8.RuneSelf:
		return 1
	case !utf8.FullRune(p):
		c.cut = slices.Clone(p)
		return len(p)
	}
	r, n := utf8.DecodeRune(p)
	switch {
	case r == utf8.RuneError && n == 1:
		c.add([]byte("\uFFFD"))
	case r >= 0xa0: // below are the 8-bit control characters
		c.add(p[:n])
	}
	return n
}

// skip takes bytes of an escape sequence and returns how many. A byte that cannot belong to one ends it and is left
// to be taken as text; a newline always does, so that a sequence without end hides no more than its line.
func (c *cleaner) skip(p []byte) int {
	b := p[0]
	switch c.state {
	case escaped:
		switch {
		case b == '[':
			c.state = control
		case bytes.IndexByte([]byte("]PX^_"), b) >= 0:
			c.state = text
		case b < ' ' || b > '~':
			c.state = ground
			return 0
		case b >= '0':
			c.state = ground
		}
	case control:
		if b < ' ' || b > '~' {
			c.state = ground
			return 0
		}
		if b >= '@' {
			c.state = ground
		}
	case text:
		return c.skipText(p)
	case textEnd:
		if b != '\\' {
			c.state = escaped
			return 0
		}
		c.state = ground
	}
	return 1
}

// skipText takes the inside of a string sequence.
func (c *cleaner) skipText(p []byte) int {
	i := bytes.IndexAny(p, "\x1b\a\n")
	if i < 0 {
		return len(p)
	}
	switch p[i] {
	case '\x1b':
		c.state = textEnd
	case '\n':
		c.state = ground
		return i
	default:
		c.state = ground
	}
	return i + 1
}
