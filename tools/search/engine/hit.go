package engine

import (
	"bytes"

	"toolhost/tools/encoding"
)

// hit counts the matching line buf[start:end] and, if lines are wanted, stores it with its context. spans holds the
// matches if the search already knows them; otherwise nil.
func (s *scanner) hit(start, end int, spans []Span) error {
	if s.done > 0 && s.numberOf(start) <= s.done {
		return nil
	}
	s.lines++
	if !s.query.Store {
		s.sink.count()
		return nil
	}
	line := s.window.buf[start:end]
	if spans == nil { // else \r\n was converted to \n, and a \r is text
		var whole bool
		line = trimCR(line)
		if spans, whole = s.spansOf(line); !whole {
			return errTooLarge
		}
	}
	s.storeTrailing(start)
	first := s.linesBefore(start, s.query.Before)
	s.storeContext(max(first, s.shown), start)
	s.sink.count()
	s.store(s.numberOf(start), line, spans)
	s.shown, s.trailing = end+1, s.query.After
	return nil
}

// spansOf returns the matches in a matching line; whole is false if finding them takes too long.
func (s *scanner) spansOf(line []byte) (spans []Span, whole bool) {
	s.pairs, whole = s.matcher.Spans(s.pairs[:0], line, maxSpans)
	s.located = s.located[:0]
	for _, m := range s.pairs {
		s.located = append(s.located, Span{m[0], m[1]})
	}
	return s.located, whole
}

// store stores a line; a context line has no spans.
func (s *scanner) store(number int, line []byte, spans []Span) {
	if number <= s.done {
		return
	}
	s.beyondASCII = s.beyondASCII || s.unrecognised && spans == nil && !encoding.IsASCII(line)
	column := 0
	if len(spans) > 0 {
		column = spans[0].Start + 1
	}
	if !s.query.Clip {
		s.sink.line(number, column, line, spans)
		return
	}
	text, shown := clip(line, spans)
	s.sink.line(number, column, text, shown)
}

// storeTrailing stores the pending context lines after the last match, up to index end.
func (s *scanner) storeTrailing(end int) {
	for ; s.trailing > 0 && s.shown < end; s.trailing-- {
		s.storeContext(s.shown, min(lineEnd(s.window.buf, s.shown)+1, end))
	}
}

// storeContext stores the lines in buf[from:to] as context.
func (s *scanner) storeContext(from, to int) {
	for from < to {
		end := min(lineEnd(s.window.buf, from), to)
		s.store(s.numberOf(from), trimCR(s.window.buf[from:end]), nil)
		from = end + 1
		s.shown = from
	}
}

// maxKept limits how far before a match, in bytes, its context may begin. These bytes stay in the buffer.
const maxKept = 1 << 20

// linesBefore returns the beginning of the line n lines before the line at i, or of a nearer one if lines are long.
func (s *scanner) linesBefore(i, n int) int {
	for least := i - maxKept; n > 0 && i > 0; n-- {
		start := bytes.LastIndexByte(s.window.buf[:i-1], '\n') + 1
		if start < least {
			break
		}
		i = start
	}
	return i
}

// numberOf returns the number of the line that begins at i.
func (s *scanner) numberOf(i int) int {
	if i >= s.counted {
		s.number += bytes.Count(s.window.buf[s.counted:i], []byte("\n"))
	} else {
		s.number -= bytes.Count(s.window.buf[i:s.counted], []byte("\n"))
	}
	s.counted = i
	return s.number
}
