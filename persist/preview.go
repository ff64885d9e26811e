package persist

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// previewMin is the least limit of a preview: below that, it would be mostly the text about the gap.
const previewMin = 200

// Preview returns text if it has at most max characters, otherwise its head and its tail with the size of the gap
// between them, together at most max. A max below 200 counts as 200. It cuts between lines if possible, otherwise
// between characters. An invalid byte counts as a character.
func Preview(text string, max int) string {
	if max < previewMin {
		max = previewMin
	}
	if len(text) <= max {
		return text
	}
	total := utf8.RuneCountInString(text)
	if total <= max {
		return text
	}
	room := max - len(gapLine(total, total)) // no gap is larger than the text
	head := cutHead(text, room-room/2)
	tail := cutTail(text[len(head):], room/2)
	gap := text[len(head) : len(text)-len(tail)]
	return head + gapLine(utf8.RuneCountInString(gap), strings.Count(gap, "\n")) + tail
}

// gapLine returns the text for a gap, on a line of its own.
func gapLine(chars, lines int) string {
	return fmt.Sprintf("\n[… %d characters, %d line ends left out here …]\n", chars, lines)
}

// cutHead returns at most n characters from the beginning of s: whole lines, unless that costs more than half.
func cutHead(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	if lf := strings.LastIndexByte(s[:end], '\n'); lf >= end/2 {
		return s[:lf+1]
	}
	return s[:end]
}

// cutTail returns at most n characters from the end of s: whole lines, unless that costs more than half.
func cutTail(s string, n int) string {
	start := len(s)
	for ; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	tail := s[start:]
	if start > 0 && s[start-1] == '\n' {
		return tail
	}
	if lf := strings.IndexByte(tail, '\n'); lf >= 0 && lf < len(tail)/2 {
		return tail[lf+1:]
	}
	return tail
}
