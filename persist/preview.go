package persist

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// previewMin is the least bound of a preview: below that, it would be mostly the text about the gap.
const previewMin = 200

// Extent bounds a preview. A field that is 0 or less sets no bound.
type Extent struct {
	Chars int // below 200 counts as 200
	Bytes int // likewise
	Lines int
}

// Preview returns text if it is within the extent, otherwise its head and its tail with the size of the gap between them, together
// within the extent. It cuts between lines if possible, otherwise between words, and within long ones between characters. An invalid byte counts as a character.
func Preview(text string, e Extent) string {
	e = e.normal()
	if len(text) <= min(e.Chars, e.Bytes) && strings.Count(text, "\n") < e.Lines {
		return text
	}
	total := utf8.RuneCountInString(text)
	if e.holds(text, total) {
		return text
	}
	gapMost := len(gapLine(total, total)) // no gap is larger than the text
	half := Extent{Chars: (e.Chars - gapMost) / 2, Bytes: (e.Bytes - gapMost) / 2, Lines: max((e.Lines-3)/2, 0)}
	head := cutHead(text, Extent{Chars: e.Chars - gapMost - half.Chars, Bytes: half.Bytes, Lines: half.Lines})
	tail := cutTail(text[len(head):], half)
	gap := text[len(head) : len(text)-len(tail)]
	return head + gapLine(utf8.RuneCountInString(gap), strings.Count(gap, "\n")) + tail
}

// normal returns the extent with every bound set.
func (e Extent) normal() Extent {
	for _, bound := range []*int{&e.Chars, &e.Bytes} {
		if *bound <= 0 {
			*bound = math.MaxInt
		}
		*bound = max(*bound, previewMin)
	}
	if e.Lines <= 0 {
		e.Lines = math.MaxInt
	}
	return e
}

// holds reports whether a text of so many characters is within the extent, whose bounds are all set.
func (e Extent) holds(text string, chars int) bool {
	return chars <= e.Chars && len(text) <= e.Bytes && strings.Count(text, "\n") < e.Lines
}

// gapLine returns the text for a gap, on a line of its own.
func gapLine(chars, lines int) string {
	return fmt.Sprintf("\n[… %d characters, %d line ends left out here …]\n", chars, lines)
}

// cutHead returns the beginning of s within the extent: whole lines, unless that costs more than half.
func cutHead(s string, e Extent) string {
	end := 0
	for ; e.Chars > 0 && end < len(s) && e.Lines > 0; e.Chars-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		if size > e.Bytes {
			break
		}
		if s[end] == '\n' {
			e.Lines--
		}
		end, e.Bytes = end+size, e.Bytes-size
	}
	if lf := strings.LastIndexByte(s[:end], '\n'); lf >= end/2 {
		return s[:lf+1]
	}
	return s[:cut.Before(s, end)]
}

// cutTail returns the end of s within the extent: whole lines, unless that costs more than half.
func cutTail(s string, e Extent) string {
	start := len(s)
	for ; e.Chars > 0 && start > 0; e.Chars-- {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		newLine := s[start-1] == '\n' && start < len(s)
		if size > e.Bytes || newLine && e.Lines <= 1 {
			break
		}
		if newLine {
			e.Lines--
		}
		start, e.Bytes = start-size, e.Bytes-size
	}
	start = cut.After(s, start)
	tail := s[start:]
	if start > 0 && s[start-1] == '\n' {
		return tail
	}
	if lf := strings.IndexByte(tail, '\n'); lf >= 0 && lf < len(tail)/2 {
		return tail[lf+1:]
	}
	return tail
}
