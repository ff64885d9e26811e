package files

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
)

const (
	defaultLines = 2000
	maxLineChars = 2000    // characters shown of one line
	pageChars    = 30_000  // characters of a page, line numbers included
	wideChars    = 120_000 // the same when the call names a limit
	noteChars    = 400     // reserved for the notes at the end
	markChars    = 60      // reserved in a line for its number and the mark where it is cut
)

// pageRequest says what a page shows.
type pageRequest struct {
	first, last int64 // the wanted lines, from 1
	skip        int   // characters of each line to leave out at its beginning
	lineChars   int   // to show of each line
	room        int   // characters
	bytes       int
}

// lineRequest asks for one line from a column on, as far as the page of r has room for it.
func (r pageRequest) lineRequest(column int64) pageRequest {
	r.last, r.skip, r.lineChars = r.first, int(column-1), r.room-markChars
	return r
}

// page collects numbered lines. Feed it the decoded content from a place before its first line.
type page struct {
	pageRequest // its room is the rest
	terminator  byte
	stripCR     bool // lines end in LF, and a CR before it belongs to the ending
	out         []byte
	shown       int64 // the last line in out; 0: none
	cutLines    int
	full        bool
	whole       []seen.Span // lines in out that are all there
	parts       []seen.Part // the others
	pageLine
}

// pageLine is the line that a page is reading.
type pageLine struct {
	line    int64  // its number
	current []byte // the part that is shown
	kept    int    // characters in current
	chars   int    // its characters so far
	endsCR  bool
}

// feed takes the next piece of text and reports whether the page wants more.
func (p *page) feed(text []byte) bool {
	for len(text) > 0 && !p.full {
		piece, rest, ended := bytes.Cut(text, []byte{p.terminator})
		if p.line >= p.first {
			p.extend(piece)
		}
		if ended {
			p.endLine()
		}
		text = rest
	}
	return !p.full
}

// extend adds a part of a line.
func (p *page) extend(piece []byte) {
	if len(piece) == 0 {
		return
	}
	p.endsCR = piece[len(piece)-1] == '\r'
	for ; p.chars < p.skip && len(piece) > 0; p.chars++ {
		_, size := utf8.DecodeRune(piece)
		piece = piece[size:]
	}
	if p.kept+len(piece) <= p.lineChars && len(p.current)+len(piece) <= p.bytes-markChars { // surely no more characters than bytes
		n := utf8.RuneCount(piece)
		p.current, p.kept, p.chars = append(p.current, piece...), p.kept+n, p.chars+n
		return
	}
	for len(piece) > 0 && p.kept < p.lineChars && p.chars == p.skip+p.kept {
		_, size := utf8.DecodeRune(piece)
		if len(p.current)+size > p.bytes-markChars && p.kept > 0 {
			break
		}
		p.current = append(p.current, piece[:size]...)
		piece = piece[size:]
		p.kept, p.chars = p.kept+1, p.chars+1
	}
	p.chars += utf8.RuneCount(piece)
}

// endLine adds the current line to the page if it is wanted and fits.
func (p *page) endLine() {
	number := p.line
	p.line++
	if number < p.first {
		return
	}
	if p.stripCR && p.endsCR {
		if p.kept > 0 && p.chars == p.skip+p.kept {
			p.current, p.kept = p.current[:len(p.current)-1], p.kept-1
		}
		p.chars--
	}
	p.show(number)
	p.current, p.kept, p.chars, p.endsCR = p.current[:0], 0, 0, false
}

func (p *page) show(number int64) {
	mark := ""
	cut := max(0, p.chars-p.skip-p.kept)
	if cut > 0 {
		mark = fmt.Sprintf("… [+%s characters]", count.Thousands(cut))
	}
	size := p.kept + utf8.RuneCountInString(mark) + len("123456\t\n")
	length := len(p.current) + len(mark) + len("123456\t\n")
	if (size > p.room || length > p.bytes) && p.shown > 0 {
		p.full = true
		return
	}
	p.room -= size
	p.bytes -= length
	for width := int64(100_000); width > number; width /= 10 {
		p.out = append(p.out, ' ')
	}
	p.out = strconv.AppendInt(p.out, number, 10)
	p.out = append(p.out, '\t')
	p.out = append(p.out, p.current...)
	p.out = append(p.out, mark...)
	p.out = append(p.out, '\n')
	switch {
	case cut > 0 || p.skip > 0:
		p.parts = append(p.parts, seen.Part{Line: number, From: int64(p.skip) + 1, To: int64(p.skip + p.kept), Ends: cut == 0})
	case len(p.whole) > 0 && p.whole[len(p.whole)-1].To == number-1:
		p.whole[len(p.whole)-1].To = number
	default:
		p.whole = append(p.whole, seen.Span{From: number, To: number})
	}
	if cut > 0 {
		p.cutLines++
	}
	p.shown = number
	p.full = number >= p.last
}

// pageOf reads the lines of a page, as far as they fit into its room. c must have these lines.
func (c *content) pageOf(ctx context.Context, r pageRequest) (*page, error) {
	offset, ended := c.before(r.first)
	p := &page{
		pageRequest: r, pageLine: pageLine{line: ended + 1},
		terminator: c.form.terminator(), stripCR: c.form.terminator() == '\n',
		out: make([]byte, 0, min(2*min(c.size, int64(r.room)), int64(r.room))), // the size may be near the largest integer
	}
	d := encoding.NewDecoder(c.form.encoding)
	err := c.chunks(ctx, offset, func(chunk []byte, end bool) bool {
		if offset == 0 && c.form.bom {
			chunk = chunk[min(len(chunk), len(c.form.encoding.Mark())):]
		}
		offset = -1
		return p.feed(d.Next(chunk, end))
	})
	if err == nil && !p.full && !c.form.finalNewline() {
		p.stripCR = false // text after the last terminator is a line without an end
		p.endLine()
	}
	return p, err
}
