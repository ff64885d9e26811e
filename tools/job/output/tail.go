package output

import (
	"bytes"
	"io"
	"os"
)

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

// storedTailBytes is how much of a stored output [TailOf] looks at.
const storedTailBytes = 4 << 20

// TailOf returns the last lines of a stored output, as text. The file has no labels of streams.
func TailOf(file string, lines int) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-storedTailBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, from, storedTailBytes))
	if err != nil {
		return "", err
	}
	log := New(Options{Ring: storedTailBytes})
	log.Write(Stdout, text)
	_, _ = log.Close() // it has no payload to lose
	return log.Tail(lines, storedTailBytes, 0).Text, nil
}
