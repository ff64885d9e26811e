package output

import (
	"bytes"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// streamEnds is the beginning and the end of a text, with the size of the part in between.
type streamEnds struct {
	head, tail []byte
	size       int64   // bytes of the whole text; uncleaned ones count in raw bytes
	lines      int64   // newlines of the whole text
	d          decoder // at its end
}

// close ends the text.
func (k *streamEnds) close() {
	if k.d.n > 0 {
		k.tail = append(k.tail, replacement...)
		k.size += int64(len(replacement))
	}
}

// held returns the number of bytes in both parts.
func (k *streamEnds) held() int { return len(k.head) + len(k.tail) }

// count returns the number of lines of the whole text.
func (k *streamEnds) count() int { return int(k.lines) + 1 }

// whole reports whether nothing is omitted.
func (k *streamEnds) whole() bool { return k.size == int64(k.held()) }

// excerpt returns the beginning and the end of the text in at most so many bytes and lines. They are cut at line ends if possible, otherwise
// between runes.
func (k *streamEnds) excerpt(budget, lines int) Excerpt {
	head, tail := k.head, k.tail
	if k.whole() {
		head = append(bytes.Clone(head), tail...)
		if tail = head; len(head) <= budget && k.count() <= lines {
			return Excerpt{Head: string(head)}
		}
	}
	inside := 0
	if !k.whole() { // the parts may end within words
		inside = 1
	}
	begin := cutEnd(head, max(0, min(len(head)-inside, budget/2)))
	end := cutStart(tail, min(len(tail), max(inside, len(tail)-budget/2)))
	begin, end = firstLines(begin, lines-lines/2), lastLines(end, lines/2)
	omitted := Omission{
		Bytes: k.size - int64(len(begin)+len(end)),
		From:  int64(bytes.Count(begin, newline)) + 1,
		To:    k.lines - int64(bytes.Count(end, newline)),
	}
	if !startsLine(end, tail) {
		omitted.To++
	}
	return Excerpt{Head: string(begin), Tail: string(end), Omitted: omitted}
}

// firstLines returns the first n lines of p, or p if it has no more.
func firstLines(p []byte, n int) []byte {
	end := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(p[end:], '\n')
		if i < 0 {
			return p
		}
		end += i + 1
	}
	return p[:end]
}

// lastLines returns the last n lines of p, or p if it has no more. A text without a line end after it counts as a line.
func lastLines(p []byte, n int) []byte {
	if n <= 0 {
		return p[len(p):]
	}
	start := len(bytes.TrimSuffix(p, newline))
	for ; n > 0; n-- {
		start = bytes.LastIndexByte(p[:max(start, 0)], '\n')
		if start < 0 {
			return p
		}
	}
	return p[start+1:]
}

// startsLine reports whether end, a suffix of p, starts a line.
func startsLine(end, p []byte) bool {
	before := len(p) - len(end)
	return before > 0 && p[before-1] == '\n'
}

// cutEnd returns the lines in the first n bytes of p, or the words and runes if that would cost more than half of it.
func cutEnd(p []byte, n int) []byte {
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= n/2 {
		return p[:i+1]
	}
	if whole := cut.Before(p, n); whole > 0 {
		n = whole
	}
	return cut.Whole(p[:n])
}

// cutStart is cutEnd for the beginning.
func cutStart(p []byte, n int) []byte {
	if whole := cut.After(p, n); whole < len(p) {
		n = whole
	}
	p = p[n:]
	if i := bytes.IndexByte(p, '\n'); i >= 0 && i < len(p)/2 {
		return p[i+1:]
	}
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}
