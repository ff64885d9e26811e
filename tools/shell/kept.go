package shell

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	headBytes = 16 << 10 // of the beginning of a text that are kept
	tailBytes = 16 << 10 // of its end
)

// kept holds the beginning and the end of a text and counts the rest. The zero value is an empty text.
type kept struct {
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring's next byte goes
	size  int64  // bytes of the whole text
	lines int64  // newlines of the whole text
}

func (k *kept) write(p []byte) {
	k.size += int64(len(p))
	k.lines += int64(bytes.Count(p, []byte{'\n'}))
	n := min(len(p), headBytes-len(k.head))
	k.head = append(k.head, p[:n]...)
	p = p[n:]
	if len(p) > tailBytes {
		p = p[len(p)-tailBytes:]
	}
	n = min(len(p), tailBytes-len(k.tail))
	k.tail = append(k.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(k.tail[k.next:], p)
		k.next = (k.next + n) % tailBytes
	}
}

// held is the number of bytes that are still there.
func (k *kept) held() int { return len(k.head) + len(k.tail) }

// whole reports whether nothing was dropped.
func (k *kept) whole() bool { return k.size == int64(k.held()) }

// end returns the last bytes of the text, in order.
func (k *kept) end() []byte {
	return append(append(make([]byte, 0, len(k.tail)), k.tail[k.next:]...), k.tail[:k.next]...)
}

// gap is what is missing between two parts of a text.
type gap struct {
	bytes    int64
	from, to int64 // the first and the last line that something of is missing, from 1
}

// parts returns the text in at most budget bytes, as its beginning and its end. They are cut where a line ends, or
// else where a rune does. A gap of zero bytes says that head is the whole text.
func (k *kept) parts(budget int) (head, tail []byte, missing gap) {
	end := k.end()
	if k.whole() && k.held() <= budget {
		return append(bytes.Clone(k.head), end...), nil, gap{}
	}
	all := k.head
	if k.whole() {
		all = append(bytes.Clone(k.head), end...)
		end = all
	}
	head = cutEnd(all[:min(len(all), budget/2)])
	tail = cutStart(end[max(0, len(end)-budget/2):])
	missing.bytes = k.size - int64(len(head)+len(tail))
	missing.from = int64(bytes.Count(head, []byte{'\n'})) + 1
	missing.to = k.lines - int64(bytes.Count(tail, []byte{'\n'}))
	if !k.startsLine(tail, end) {
		missing.to++
	}
	return head, tail, missing
}

// startsLine reports whether tail, which is the end of end, starts a line.
func (k *kept) startsLine(tail, end []byte) bool {
	before := len(end) - len(tail)
	return before > 0 && end[before-1] == '\n'
}

// cutEnd shortens p to whole lines, or to whole runes if that would cost more than half of it.
func cutEnd(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n'); i >= len(p)/2 {
		return p[:i+1]
	}
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

// String names the gap: "12,345 bytes (lines 210–4,511)".
func (g gap) String() string {
	lines := "line " + thousands(g.from)
	if g.to > g.from {
		lines = "lines " + thousands(g.from) + "–" + thousands(g.to)
	}
	return fmt.Sprintf("%s (%s)", count(g.bytes, "byte", "bytes"), lines)
}

// count writes a number of things: "1 byte", "12,345 bytes".
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes n, which is not negative, in groups of three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
