package output

import (
	"bytes"
	"unicode/utf8"
)

// kept is the beginning and the end of a text, and how much of it is neither.
type kept struct {
	head, tail []byte
	size       int64   // bytes of the whole text; those that were not cleaned count as they are
	lines      int64   // newlines of the whole text
	d          decoder // at its end
}

// close ends the text.
func (k *kept) close() {
	if k.d.n > 0 {
		k.tail = append(k.tail, replacement...)
		k.size += int64(len(replacement))
	}
}

// held is the number of bytes that are there.
func (k *kept) held() int { return len(k.head) + len(k.tail) }

// whole reports whether nothing is left out.
func (k *kept) whole() bool { return k.size == int64(k.held()) }

// excerpt returns the text in at most budget bytes, as its beginning and its end. They are cut where a line ends, or
// else where a rune does.
func (k *kept) excerpt(budget int) Excerpt {
	head, tail := k.head, k.tail
	if k.whole() {
		head = append(bytes.Clone(head), tail...)
		if tail = head; len(head) <= budget {
			return Excerpt{Head: string(head)}
		}
	}
	begin := cutEnd(head[:min(len(head), budget/2)])
	end := cutStart(tail[max(0, len(tail)-budget/2):])
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

// startsLine reports whether end, which is the end of p, starts a line.
func startsLine(end, p []byte) bool {
	before := len(p) - len(end)
	return before > 0 && p[before-1] == '\n'
}

// cutEnd shortens p to whole lines, or to whole runes if that would cost more than half of it.
func cutEnd(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n'); i >= len(p)/2 {
		return p[:i+1]
	}
	return cutRune(p)
}

// cutRune shortens p to whole runes.
func cutRune(p []byte) []byte {
	for n := len(p) - 1; n >= 0 && n > len(p)-utf8.UTFMax; n-- {
		if utf8.RuneStart(p[n]) {
			if !utf8.FullRune(p[n:]) {
				p = p[:n]
			}
			break
		}
	}
	return p
}

// cutStart is cutEnd for the other side.
func cutStart(p []byte) []byte {
	if i := bytes.IndexByte(p, '\n'); i >= 0 && i < len(p)/2 {
		return p[i+1:]
	}
	for len(p) > 0 && !utf8.RuneStart(p[0]) {
		p = p[1:]
	}
	return p
}
