package engine

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxShown = 500 // characters of a line that are shown
	lead     = 100 // of them before the match, when the line is cut
	maxSpans = 50  // matches of a line that are listed
	cutMark  = "…"
)

// clip returns at most 500 characters of a line as valid UTF-8, with marks where it was cut, and the spans within
// them. It shows the surroundings of the first span, or the beginning of the line if there is no span.
func clip(line []byte, spans []Span) ([]byte, []Span) {
	if len(line) <= maxShown && utf8.Valid(line) {
		return line, spans
	}
	focus := 0
	if len(spans) > 0 {
		focus = spans[0].Start
	}
	from, to := section(line, focus)
	var out []byte
	if from > 0 {
		out = append(out, cutMark...)
	}
	place := make([]int, 0, to-from+1) // of each byte of the section, in out
	for i := from; i < to; {
		r, width := utf8.DecodeRune(line[i:to])
		for range width {
			place = append(place, len(out))
		}
		out = utf8.AppendRune(out, r)
		i += width
	}
	place = append(place, len(out))
	if to < len(line) {
		out = append(out, cutMark...)
	}
	var shown []Span
	for _, s := range spans {
		if s.Start <= to {
			shown = append(shown, Span{place[s.Start-from], place[min(s.End, to)-from]})
		}
	}
	return out, shown
}

// Clipped reports whether a line that was found looks as if it was cut.
func Clipped(line []byte) bool {
	marked := bytes.HasPrefix(line, []byte(cutMark)) || bytes.HasSuffix(line, []byte(cutMark))
	return marked && len(line) > maxShown && utf8.RuneCount(line) > maxShown
}

// section returns the bounds of the part of a line to show around focus.
func section(line []byte, focus int) (from, to int) {
	from = backward(line, focus, lead)
	to = forward(line, from, maxShown)
	if to == len(line) {
		from = backward(line, to, maxShown)
	}
	return from, to
}

// forward returns the index n characters after i, or the line's end.
func forward(line []byte, i, n int) int {
	for ; n > 0 && i < len(line); n-- {
		_, width := utf8.DecodeRune(line[i:])
		i += width
	}
	return i
}

// backward returns the index n characters before i, or the line's beginning.
func backward(line []byte, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, width := utf8.DecodeLastRune(line[:i])
		i -= width
	}
	return i
}
