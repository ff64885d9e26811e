package engine

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"toolhost/tools/encoding"
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
	text         bool // it is known to hold no NUL
	unrecognised bool // it may be neither UTF-8 nor binary; then its text is other than its bytes
	beyondASCII  bool // while unrecognised: some line that was stored is not ASCII
	done         int  // lines up to this number were sent before the file was recognised
	lines        int  // matching lines so far
	counted      int  // beginning of the line with number number
	number       int
	shown        int // end of the last stored line
	trailing     int // context lines still to store
}

// limitReached reports whether the search leaves the current file.
func (s *scanner) limitReached() bool {
	return s.query.Limit > 0 && s.lines >= s.query.Limit || s.sink.stopped
}

// begin starts a new file. before is the summary of the batch so far.
func (s *scanner) begin(file *tree.File, before Summary) {
	s.fileScan = fileScan{number: 1, unrecognised: s.query.Encoding == ""}
	s.sink.begin(file, before)
	s.sink.sent = sent{}
}

// errForeign means that the file is not UTF-8, and that it matters. It must be recognised.
var errForeign = errors.New("not UTF-8")

// whole searches an open file of size bytes. It takes it for UTF-8 as long as only ASCII counts. Otherwise it makes
// sure, and searches the decoded text if it is none.
func (s *scanner) whole(ctx context.Context, fd int, size int64) error {
	defer s.window.close()
	all := s.query.Pattern.Multiline()
	if err := s.window.open(ctx, fd, size, all, s.query.Encoding); err != nil {
		return err
	}
	if s.window.decoder != nil {
		s.text, s.unrecognised = !s.window.malformed, false
	}
	err := s.inWindow(ctx)
	if !errors.Is(err, errForeign) {
		return err
	}
	found, err := s.window.recognise(ctx)
	if err != nil {
		return err
	}
	s.beginAnew()
	if err := s.window.decode(ctx, found, all); err != nil {
		return err
	}
	err = s.inWindow(ctx)
	if err != nil || s.lines > 0 || !found.Mixed {
		return err
	}
	// UTF-8 with some bad bytes: the characters that are none by the encoding in which it is shown may be meant.
	s.beginAnew()
	if err := s.window.decode(ctx, encoding.Declared(encoding.UTF8, nil), all); err != nil {
		return err
	}
	return s.inWindow(ctx)
}

// beginAnew drops what was found in the current file. What was sent stays, and is not found again.
func (s *scanner) beginAnew() {
	s.fileScan = fileScan{number: 1, text: s.text, lines: s.sink.sent.matches, done: s.sink.sent.last}
	s.sink.takeBack()
}

// inWindow searches what the window shows, to the end of the file.
func (s *scanner) inWindow(ctx context.Context) error {
	if s.query.Pattern.Multiline() {
		return s.multiline(ctx, s.window.buf)
	}
	for from := 0; ; {
		if err := s.piece(ctx, from); err != nil || s.limitReached() {
			return err
		}
		s.storeTrailing(s.window.whole)
		if err := s.checkStored(ctx); err != nil || s.window.eof {
			return err
		}
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
		if err := s.piece(ctx, 0); err != nil || s.limitReached() {
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
func (s *scanner) piece(ctx context.Context, from int) error {
	buf := s.window.buf[:s.window.whole]
	if s.unrecognised && !s.query.Pattern.ASCII() && !utf8.Valid(buf[from:]) {
		if isText(buf[from:]) {
			return errForeign
		}
		s.unrecognised = false // a binary file, which open did not take for UTF-16
	}
	s.matcher.Legacy(s.unrecognised)
	s.matcher.Reset(buf)
	for from < len(buf) && !s.limitReached() {
		start, end, ok := s.matcher.Next(from)
		if !ok {
			break
		}
		if err := s.checkText(ctx); err != nil {
			return err
		}
		s.beyondASCII = s.unrecognised && !encoding.IsASCII(buf[start:end])
		if err := s.checkStored(ctx); err != nil {
			return err
		}
		if err := s.hit(start, end, nil); err != nil {
			return err
		}
		if err := s.checkStored(ctx); err != nil {
			return err
		}
		from = end + 1
	}
	return nil
}

// checkText checks once per file, when something was found in it, that it holds no NUL.
func (s *scanner) checkText(ctx context.Context) error {
	if s.text {
		return nil
	}
	found, err := s.window.isBinary(ctx)
	if found && err == nil {
		err = errBinary
	}
	s.text = err == nil
	return err
}

// checkStored checks once per file, when a line that counts is not ASCII, that the file is UTF-8.
func (s *scanner) checkStored(ctx context.Context) error {
	if !s.unrecognised || !s.beyondASCII {
		return nil
	}
	valid, err := s.window.isUTF8(ctx)
	if !valid && err == nil {
		err = errForeign
	}
	s.unrecognised = false
	return err
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// multiline searches a whole file for matches that may span lines. Every line that a match touches is a hit.
func (s *scanner) multiline(ctx context.Context, buf []byte) error {
	if s.unrecognised && (!s.query.Pattern.ASCII() || s.matcher.May(buf)) && !utf8.Valid(buf) && isText(buf) {
		return errForeign
	}
	s.unrecognised = false
	if !s.matcher.Has(buf) {
		return nil
	}
	if err := s.checkText(ctx); err != nil {
		return err
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
