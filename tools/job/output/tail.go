package output

import "bytes"

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
