package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNeedles bounds the texts that are looked for one by one before the regular expression is asked.
const maxNeedles = 8

// needle is a text that is looked for.
type needle struct {
	text []byte // lower case when fold is set
	fold bool   // ASCII letters of either case match
	rare int    // index of the byte that is likely to be the rarest
}

// required returns texts of which at least one is in every match of re, or nil when none is known.
func required(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if n := required(sub); weight(n) > weight(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			n := required(sub)
			if n == nil || len(all)+len(n) > maxNeedles {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// weight says how well needles select: the length of the shortest, less for many.
func weight(needles []needle) int {
	if len(needles) == 0 {
		return 0
	}
	shortest := slices.MinFunc(needles, func(a, b needle) int { return len(a.text) - len(b.text) })
	return len(shortest.text)*maxNeedles - len(needles) + 1
}

// literalNeedle returns the needle for a literal, or nil when there is none.
func literalNeedle(re *syntax.Regexp) []needle {
	text := string(re.Rune)
	if slices.Contains(re.Rune, utf8.RuneError) { // it also matches every invalid byte
		return nil
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{{text: []byte(text)}}
	}
	// K and S have a third form beyond ASCII, as have other letters: only the longest part without them is sure.
	best := ""
	for _, part := range strings.FieldsFunc(strings.Map(lowerASCII, text), func(r rune) bool {
		return r >= utf8.RuneSelf || r == 'k' || r == 's'
	}) {
		if len(part) > len(best) {
			best = part
		}
	}
	if best == "" {
		return nil
	}
	n := needle{text: []byte(best), fold: true}
	for i, c := range n.text {
		if rarity(c) > rarity(n.text[n.rare]) {
			n.rare = i
		}
	}
	return []needle{n}
}

// byFrequency lists bytes as source text has them, either case as one, the most frequent first.
const byFrequency = " etiranolcdupm0_f1()hg.b,-=\"y;:vx2w/\t{}[]*>'<3548679+#&|q$z!%@j\\?`~^"

// rarity orders bytes: the higher, the rarer.
func rarity(c byte) int {
	if i := strings.IndexByte(byFrequency, c); i >= 0 {
		return i
	}
	return len(byFrequency)
}

// lowerASCII leaves every other letter alone: some have an ASCII lower case that the pattern does not match.
func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + ('a' - 'A')
	}
	return r
}

// seeker finds the next of several needles in one buffer. It remembers what it found, so that a buffer is passed over
// once for each needle however often next is called.
type seeker struct {
	needles []needle
	at      []position
}

// position is where a needle, and either case of its rare byte, comes next; len(buf) for never, -1 for not known.
type position struct{ next, lower, upper int }

func newSeeker(needles []needle) *seeker {
	return &seeker{needles: needles, at: make([]position, len(needles))}
}

// reset forgets the buffer.
func (s *seeker) reset() {
	for i := range s.at {
		s.at[i] = position{-1, -1, -1}
	}
}

// next returns the index of the first needle in buf at or after from, or len(buf). Between resets buf is the same and
// from never falls.
func (s *seeker) next(buf []byte, from int) int {
	first := len(buf)
	for i := range s.at {
		at := &s.at[i]
		if at.next < from {
			at.next = at.find(&s.needles[i], buf, from)
		}
		first = min(first, at.next)
	}
	return first
}

// find returns the index of n in buf at or after from, or len(buf).
func (at *position) find(n *needle, buf []byte, from int) int {
	if !n.fold {
		return indexFrom(bytes.Index(buf[from:], n.text), from, len(buf))
	}
	lower := n.text[n.rare]
	upper := toUpper(lower)
	for start := from; ; start++ {
		low := start + n.rare
		if low >= len(buf) {
			return len(buf)
		}
		if at.lower < low {
			at.lower = indexFrom(bytes.IndexByte(buf[low:], lower), low, len(buf))
		}
		if at.upper < low {
			at.upper = indexFrom(bytes.IndexByte(buf[low:], upper), low, len(buf))
		}
		start = min(at.lower, at.upper) - n.rare
		if start+len(n.text) > len(buf) {
			return len(buf)
		}
		if equalFold(buf[start:start+len(n.text)], n.text) {
			return start
		}
	}
}

// indexFrom turns an index relative to from into one of the whole buffer, and -1 into its size.
func indexFrom(i, from, size int) int {
	if i < 0 {
		return size
	}
	return from + i
}

// equalFold reports whether b is lower, which is in lower case, but for the case of ASCII letters.
func equalFold(b, lower []byte) bool {
	for i, c := range lower {
		if b[i] != c && b[i] != toUpper(c) {
			return false
		}
	}
	return true
}

func toUpper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
