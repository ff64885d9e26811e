package engine

import (
	"bytes"
	"context"
	"errors"

	"toolhost/tools/search/match"
	"toolhost/tools/search/tree"
)

// scanner searches files one after another for one query, in one goroutine.
type scanner struct {
	query   *Query
	matcher *match.Matcher
	window  window
	sink    sink
	fileScan

	pairs   [][2]int // reused between lines
	located []Span
}

// fileScan is the scan of one file. Positions are in window.buf.
type fileScan struct {
	text     bool // its beginning is known to hold no NUL
	lines    int  // matching lines so far
	counted  int  // beginning of the line with number number
	number   int
	shown    int // end of the last stored line
	trailing int // context lines still to store
}

// limitReached reports whether the search leaves the current file.
func (s *scanner) limitReached() bool {
	return s.query.Limit > 0 && s.lines >= s.query.Limit || s.sink.stopped
}

// begin starts a new file. before is the summary of the batch so far.
func (s *scanner) begin(file *tree.File, before Summary) {
	s.fileScan = fileScan{number: 1}
	s.sink.begin(file, before)
}

// whole searches an open file of size bytes.
func (s *scanner) whole(ctx context.Context, fd int, size int64) error {
	defer s.window.close()
	if err := s.window.open(ctx, fd, size, s.query.Pattern.Multiline()); err != nil {
		return err
	}
	if s.query.Pattern.Multiline() {
		return s.multiline(s.window.buf)
	}
	for from := 0; ; {
		if err := s.piece(from); err != nil || s.limitReached() {
			return err
		}
		s.storeTrailing(s.window.whole)
		if s.window.eof {
			return nil
		}
		s.text = true // a binary file would have ended here
		keep := s.linesBefore(s.window.whole, s.query.Before)
		from = s.window.whole - keep
		s.forget(keep)
		if err := s.window.next(ctx, keep); err != nil {
			return err
		}
	}
}

// errChanged means that a file changed while it was read.
var errChanged = errors.New("it changed while it was searched")

// chunks searches parts of an open file that begin and end with whole lines, and checks after each read that the file
// is unchanged. It serves queries without context lines.
func (s *scanner) chunks(ctx context.Context, fd int, chunks []part, unchanged func() bool) error {
	defer s.window.close()
	for _, c := range chunks {
		if err := s.window.part(ctx, fd, c.from, c.to); err != nil {
			return err
		}
		if !unchanged() {
			return errChanged
		}
		s.counted, s.number = 0, c.line
		if err := s.piece(0); err != nil || s.limitReached() {
			return err
		}
	}
	return nil
}

// part is a part of a file: its bytes, and the number of its first line.
type part struct {
	from, to int64
	line     int
}

// forget adjusts positions when the window drops the bytes before keep.
func (s *scanner) forget(keep int) {
	s.numberOf(keep)
	s.counted = 0
	s.shown = max(0, s.shown-keep)
}

// piece searches the whole lines of the window from the line that begins at from.
func (s *scanner) piece(from int) error {
	buf := s.window.buf[:s.window.whole]
	s.matcher.Reset(buf)
	for from < len(buf) && !s.limitReached() {
		start, end, ok := s.matcher.Next(from)
		if !ok {
			break
		}
		if !s.isText() {
			return errBinary
		}
		if err := s.hit(start, end, nil); err != nil {
			return err
		}
		from = end + 1
	}
	return nil
}

// isText checks once per file that its beginning, which is then in the window, holds no NUL.
func (s *scanner) isText() bool {
	s.text = s.text || isText(s.window.buf)
	return s.text
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// multiline searches a whole file for matches that may span lines. Every line that a match touches is a hit.
func (s *scanner) multiline(buf []byte) error {
	if !s.matcher.Has(buf) {
		return nil
	}
	if !s.isText() {
		return errBinary
	}
	all, whole := s.matcher.SpansAll(s.pairs[:0], buf, maxLocated)
	s.pairs = all
	t := touchedLines{scanner: s, buf: buf}
	for _, m := range all {
		if m[0] == len(buf) && (m[0] == 0 || buf[m[0]-1] == '\n') {
			break // an empty match after the last line
		}
		if err := t.match(m[0], m[1]); err != nil || s.limitReached() {
			return err
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	s.storeTrailing(len(buf))
	if (!whole || len(all) == maxLocated) && !s.limitReached() {
		return errTooLarge
	}
	return nil
}

// maxLocated bounds the matches that a multiline search locates in one text.
const maxLocated = 200_000

// touchedLines collects the lines that matches touch, and the spans of each match in them.
type touchedLines struct {
	*scanner
	buf        []byte
	start, end int // of the current line
	spans      []Span
}

// match adds a match to the lines that it touches.
func (t *touchedLines) match(from, to int) error {
	for at := from; !t.limitReached(); at = t.end + 1 {
		if t.spans == nil || at > t.end {
			if err := t.flush(); err != nil {
				return err
			}
			t.start = bytes.LastIndexByte(t.buf[:at], '\n') + 1
			t.end = lineEnd(t.buf, at)
		}
		if len(t.spans) < maxSpans {
			t.spans = append(t.spans, Span{at - t.start, min(to, t.end) - t.start})
		}
		if to <= t.end+1 {
			break
		}
	}
	return nil
}

// flush reports the current line as a hit.
func (t *touchedLines) flush() error {
	if t.spans == nil || t.limitReached() {
		return nil
	}
	spans := t.spans
	t.spans = nil
	return t.hit(t.start, t.end, spans)
}

// lineEnd returns the index of the end of the line that holds at.
func lineEnd(buf []byte, at int) int {
	if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(buf)
}
