package files

import (
	"bytes"
	"strings"

	"toolhost/agenttool/cut"
)

const (
	nearestLines = 20_000  // lines that are compared
	nearestBytes = 2 << 20 // and bytes
	nearestWidth = 200     // bytes of a line to compare and quote
)

// likeness is a line of a text that is similar to a string.
type likeness struct {
	number int
	line   string
	spaces bool // differs in white space only
}

// nearest returns the line of text that is most similar to the first non-blank line of old, among the first lines of
// the text. ok is false if none is similar.
func nearest(text []byte, old string, terminator byte) (best likeness, ok bool) {
	wanted := firstLine(old)
	if wanted == "" {
		return best, false
	}
	squeezed, grams, score := squeeze(wanted), newBigrams(wanted), 0.5
	text = text[:min(len(text), nearestBytes)]
	for number := 1; number <= nearestLines && len(text) > 0; number++ {
		line, rest, _ := bytes.Cut(text, []byte{terminator})
		text = rest
		candidate := strings.TrimSpace(cut.Head(string(line), nearestWidth))
		if candidate == "" {
			continue
		}
		if squeeze(candidate) == squeezed {
			return likeness{number, candidate, true}, true
		}
		if s := grams.similarity(candidate); s >= score {
			score = s + 1e-9
			best, ok = likeness{number: number, line: candidate}, true
		}
	}
	return best, ok
}

// firstLine returns the first non-blank line of s, trimmed and cut to nearestWidth.
func firstLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return cut.Head(line, nearestWidth)
		}
	}
	return ""
}

// squeeze drops all white space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

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
	shared := make([]int, 0, nearestWidth)
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
