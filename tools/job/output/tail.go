package output

import "bytes"

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

// lineFinder searches backward for the beginnings of lines.
type lineFinder struct {
	lines int   // number of lines still to find
	from  int64 // beginning of the last line found
	past  bool  // the last byte was handled: a newline there ends a line and begins none
}

// back searches the chunk before the previous one, and reports whether all lines are found.
func (f *lineFinder) back(c chunk) bool {
	b := c.b
	if !f.past && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	f.past = true
	for f.lines > 0 {
		i := bytes.LastIndexByte(b, '\n')
		if i < 0 {
			return false
		}
		f.lines--
		f.from = c.from + int64(i) + 1
		b = b[:i]
	}
	return true
}
