package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The bounds of a file.
const (
	maxSize  = 1 << 20
	maxDepth = 32 // nesting depth of lists and objects
)

// text is the content of a file, with the offsets of its lines.
type text struct {
	bytes []byte // without a byte order mark
	lines []int  // offset of each line's first byte
	bom   string // the byte order mark that was removed
}

const byteOrderMark = "\ufeff"

func newText(content []byte) *text {
	t := &text{bytes: content, lines: []int{0}}
	if rest, found := bytes.CutPrefix(content, []byte(byteOrderMark)); found {
		t.bytes, t.bom = rest, byteOrderMark
	}
	for i, c := range t.bytes {
		if c == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// position returns the line and column of an offset, both from 1.
func (t *text) position(offset int) (line, column int) {
	line, exact := slices.BinarySearch(t.lines, offset)
	if exact {
		line++
	}
	return line, offset - t.lines[line-1] + 1
}

// syntaxError is a syntax error at a place.
type syntaxError struct {
	line, column int
	message      string
}

func (e *syntaxError) Error() string { return e.message }

// at returns an error at a place.
func (t *text) at(offset int, format string, args ...any) error {
	line, column := t.position(offset)
	return &syntaxError{line, column, fmt.Sprintf(format, args...)}
}

// parse reads the text as JSON with comments and trailing commas. Offsets in the value are those of t.bytes.
func (t *text) parse() (hujson.Value, error) {
	if i := invalidUTF8(t.bytes); i >= 0 {
		return hujson.Value{}, t.at(i, "the file is not UTF-8")
	}
	if len(bytes.TrimSpace(t.bytes)) == 0 {
		return hujson.Value{}, t.at(0, "the file is empty: write {} if it shall say nothing, or remove it")
	}
	if i := tooDeep(t.bytes); i >= 0 {
		return hujson.Value{}, t.at(i, "lists and objects are nested more than %d deep", maxDepth)
	}
	v, err := hujson.Parse(append(slices.Clip(t.bytes), '\n')) // so that a last comment without a line feed is accepted
	if err != nil {
		return v, t.syntax(err)
	}
	return v, nil
}

// syntax extracts the place from an error of hujson, which has it only in its text.
func (t *text) syntax(err error) error {
	e := &syntaxError{line: 1, column: 1}
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.line, &e.column); scanErr != nil {
		e.message = err.Error()
		return e
	}
	_, e.message, _ = strings.Cut(err.Error(), ": ")
	_, e.message, _ = strings.Cut(e.message, ": ")
	e.message = shown("not JSON with comments: " + e.message)
	if e.line > len(t.lines) {
		e.line, e.column = t.position(len(t.bytes))
	}
	return e
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of the first bracket that is nested too deep, or -1. The parser is recursive.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:])
		case '/':
			i += max(commentEnd(b[i:])-1, 0)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// stringEnd returns the offset of the quote that ends the string at the beginning of b.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}

// commentEnd returns the length of the comment at the beginning of b, without its final line feed; 0 if there is no
// comment.
func commentEnd(b []byte) int {
	end, length := -1, 0
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		end = bytes.IndexByte(b, '\n')
	case bytes.HasPrefix(b, []byte("/*")):
		if end = bytes.Index(b[2:], []byte("*/")); end >= 0 {
			length = len("/**/")
		}
	default:
		return 0
	}
	if end < 0 {
		return len(b)
	}
	return end + length
}
