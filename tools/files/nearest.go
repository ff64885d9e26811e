package files

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolhost/agenttool/visible"
)

// nearestCharacters is how many characters of a string its place in a text is searched by.
const nearestCharacters = 32 << 10

// nearest returns the part of text that is most like old, as byte offsets. ok is false if no part is.
//
// It moves a window over the text and counts what the window has in common with old: short runs of characters in the form of [fold],
// so that white space, case, accents and the style of quotes do not matter. Time is linear in both sizes; memory is about 2 MiB.
func nearest(text []byte, old string) (from, to int, ok bool) {
	wanted := folded(old, nearestCharacters)
	if len(wanted) == 0 {
		return 0, 0, false
	}
	length := 5
	switch {
	case len(wanted) <= 8:
		length = min(2, len(wanted))
	case len(wanted) <= 64:
		length = 3
	}
	var wants, has [1 << 16]int32 // how often each run occurs in old and in the window
	runs := runHash{length: length}
	for _, r := range wanted {
		if hash, whole := runs.add(r, 0); whole {
			wants[hash]++
		}
	}
	type run struct {
		hash uint16
		at   int
	}
	window := make([]run, len(wanted)-length+1) // a ring
	var forms [1 << 16]rune                     // of characters that were seen, plus 2; 0: not seen
	next, filled, common, most := 0, false, 0, 0
	runs = runHash{length: length}
	for at := 0; at < len(text); {
		r, size := rune(text[at]), 1
		if r < utf8.RuneSelf {
			r = foldASCII(r)
		} else {
			r, size = utf8.DecodeRune(text[at:])
			if slot := r & 0xffff; r < 1<<16 && forms[slot] > 0 {
				r = forms[slot] - 2
			} else if r < 1<<16 {
				r = fold(r)
				forms[slot] = r + 2
			} else {
				r = fold(r)
			}
		}
		at += size
		if r < 0 {
			continue
		}
		hash, whole := runs.add(r, at-size)
		if !whole {
			continue
		}
		if filled {
			if leaves := window[next].hash; wants[leaves] > 0 {
				if has[leaves] <= wants[leaves] {
					common--
				}
				has[leaves]--
			}
		}
		window[next] = run{hash, runs.start()}
		if next++; next == len(window) {
			next, filled = 0, true
		}
		if wants[hash] == 0 {
			continue
		}
		if has[hash]++; has[hash] <= wants[hash] {
			common++
		}
		if common > most {
			most, from, to = common, window[0].at, at
			if filled {
				from = window[next].at
			}
		}
	}
	return from, to, 100*most >= 35*len(window)
}

// runHash computes a hash of the last characters of a text.
type runHash struct {
	length int // of a run, at most 5
	count  int
	sum    uint32
	last   [5]rune
	at     [5]int // their offsets
}

// add appends a character. It returns the hash of the run that ends with it; whole is false before there is one.
func (h *runHash) add(r rune, at int) (hash uint16, whole bool) {
	const factor = 0x01000193
	slot := h.count % h.length
	leaves := uint32(h.last[slot])
	for range h.length {
		leaves *= factor
	}
	h.sum = h.sum*factor + uint32(r) - leaves
	h.last[slot], h.at[slot] = r, at
	h.count++
	return uint16(h.sum * 0x9e3779b1 >> 16), h.count >= h.length
}

// start returns the offset of the first character of the last run.
func (h *runHash) start() int { return h.at[h.count%h.length] }

// folded returns the first characters of s in the form of [fold].
func folded(s string, most int) []rune {
	var out []rune
	for _, r := range s {
		if len(out) == most {
			break
		}
		if r = fold(r); r >= 0 {
			out = append(out, r)
		}
	}
	return out
}

// fold returns the form of a character in which texts are compared that should be equal to the eye: a small letter without accents, one
// sort of quote, one of dash. It returns -1 for white space, marks, backslashes and what does not show.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		return foldASCII(r)
	}
	if plain, ok := visible.Keyboard(r); ok {
		return foldASCII(rune(plain[0]))
	}
	if visible.Blank(r) || visible.Invisible(r) || unicode.Is(unicode.Mn, r) {
		return -1
	}
	if r >= 0xac00 && r <= 0xd7a3 { // a syllable of Hangul: its first letter
		return 0x1100 + (r-0xac00)/588
	}
	if r >= 0x1160 && r <= 0x11ff { // the other letters
		return -1
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if parts := norm.NFD.Properties(buf[:n]).Decomposition(); len(parts) > 0 {
		r, _ = utf8.DecodeRune(parts)
	}
	if r < utf8.RuneSelf {
		return foldASCII(r)
	}
	return unicode.ToLower(r)
}

func foldASCII(r rune) rune {
	switch {
	case r <= ' ' || r == '\\' || r == 0x7f:
		return -1
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\'' || r == '`':
		return '"'
	}
	return r
}

// bigrams counts the pairs of adjacent bytes of a string, including one that ends with its first byte.
type bigrams struct {
	left  [1 << 16]uint16
	total int
}

func newBigrams(s string) *bigrams {
	g := &bigrams{total: len(s)}
	for i := range len(s) {
		g.left[pairAt(s, i)]++
	}
	return g
}

func pairAt(s string, i int) int {
	if i == 0 {
		return int(s[0])
	}
	return int(s[i-1])<<8 | int(s[i])
}

// similarity returns the Dice coefficient of the pairs of s and g: 1 if equal, 0 if nothing is common.
func (g *bigrams) similarity(s string) float64 {
	if g.total+len(s) == 0 {
		return 0
	}
	shared := make([]int, 0, 256)
	for i := range len(s) {
		if pair := pairAt(s, i); g.left[pair] > 0 {
			g.left[pair]--
			shared = append(shared, pair)
		}
	}
	for _, pair := range shared {
		g.left[pair]++
	}
	return 2 * float64(len(shared)) / float64(g.total+len(s))
}
