// Package jsonc reads JSON with comments and trailing commas, and changes single parts of it: comments, order and format of the rest stay
// as they are, byte for byte.
package jsonc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"toolhost/agenttool/visible"
)

// maxDepth is the nesting depth of lists and objects.
const maxDepth = 32

// ByteOrderMark may begin a file. It is no part of the JSON.
const ByteOrderMark = "\ufeff"

// Document is a file that was read. Offsets in Root do not count a byte order mark.
type Document struct {
	Root  hujson.Value
	text  []byte // without a byte order mark
	lines []int  // offset of each line's first byte
	bom   string // the byte order mark that was removed
}

// Parse reads a file. An error is a [*SyntaxError].
func Parse(content []byte) (*Document, error) {
	d := &Document{text: content, lines: []int{0}}
	if rest, found := bytes.CutPrefix(content, []byte(ByteOrderMark)); found {
		d.text, d.bom = rest, ByteOrderMark
	}
	for i, c := range d.text {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	return d, d.parse()
}

// Position returns the line and column of an offset, both from 1.
func (d *Document) Position(offset int) (line, column int) {
	line, exact := slices.BinarySearch(d.lines, offset)
	if exact {
		line++
	}
	return line, offset - d.lines[line-1] + 1
}

// SyntaxError is a syntax error at a place. Line and Column are from 1.
type SyntaxError struct {
	Line, Column int
	message      string
}

func (e *SyntaxError) Error() string { return e.message }

// at returns an error at a place.
func (d *Document) at(offset int, format string, args ...any) error {
	line, column := d.Position(offset)
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
}

func (d *Document) parse() (err error) {
	if i := invalidUTF8(d.text); i >= 0 {
		return d.at(i, "the file is not UTF-8")
	}
	if len(bytes.TrimSpace(d.text)) == 0 {
		return d.at(0, "the file is empty: write {} if it shall say nothing, or remove it")
	}
	if i := tooDeep(d.text); i >= 0 {
		return d.at(i, "lists and objects are nested more than %d deep", maxDepth)
	}
	d.Root, err = hujson.Parse(append(slices.Clip(d.text), '\n')) // so that a last comment without a line feed is accepted
	if err != nil {
		return d.syntax(err)
	}
	return nil
}

// syntax extracts the place from an error of hujson, which has it only in its text.
func (d *Document) syntax(err error) error {
	e := &SyntaxError{Line: 1, Column: 1}
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column); scanErr != nil {
		e.message = err.Error()
		return e
	}
	_, e.message, _ = strings.Cut(err.Error(), ": ")
	_, e.message, _ = strings.Cut(e.message, ": ")
	e.message = visible.Text("not JSON with comments: " + e.message)
	if e.Line > len(d.lines) {
		e.Line, e.Column = d.Position(len(d.text))
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
			i += StringEnd(b[i:])
		case '/':
			i += max(CommentEnd(b[i:])-1, 0)
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

// StringEnd returns the offset of the quote that ends the string at the beginning of b.
func StringEnd(b []byte) int {
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

// CommentEnd returns the length of the comment at the beginning of b, without its final line feed; 0 if there is no
// comment.
func CommentEnd(b []byte) int {
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
