package literal

import (
	"bytes"
	"math/bits"
)

// allowance is the number of bytes that may be compared in vain before the linear search takes over.
const allowance = 1 << 12

// search implements Index. The choice of scan affects only the time.
func (n *Needle) search(b []byte, wide bool) int {
	positions := len(b) - len(n.text) + 1
	if positions < round {
		return n.searchFew(b, positions)
	}
	wasted := 0
	for at := 0; at < positions; at += round {
		at = min(at, positions-round) // the last round repeats positions of the one before
		skipped, mask := n.pair.scan(b[at:], (positions-at)/round, wide)
		at += skipped
		for ; mask != 0; mask &= mask - 1 {
			i := at + bits.TrailingZeros64(mask)
			if n.matches(b, i) {
				return i
			}
			if wasted += n.waste(b, i); wasted/4 > allowance+i {
				return n.searchLinear(b, i+1)
			}
		}
	}
	return -1
}

// scan skips rounds from the start of b without a position where the pair matches. It returns the position of the
// next round, and a bit for each of its positions where the pair may match. If there is no such round it returns the
// last round and 0.
func (p *pair) scan(b []byte, rounds int, wide bool) (at int, mask uint64) {
	if wide {
		return scanWide(&b[0], rounds, p)
	}
	return scanWords(b, rounds, p)
}

// searchFew checks each of few positions.
func (n *Needle) searchFew(b []byte, positions int) int {
	for i := range max(positions, 0) {
		if n.pair.matches(b, i) && n.matches(b, i) {
			return i
		}
	}
	return -1
}

// waste returns how many bytes a failed comparison at position i of b may have cost. Only long texts with a buffer
// that is made to resemble them waste a relevant number.
func (n *Needle) waste(b []byte, i int) int {
	if n.skip == nil || !n.head.matches(b[i:]) {
		return 0
	}
	return len(n.text)
}

// borders returns for each prefix of text the length of its longest border: a shorter prefix that it also ends with.
func borders(text []byte) []int32 {
	skip := make([]int32, len(text))
	for i, k := 1, int32(0); i < len(text); i++ {
		for k > 0 && text[k] != text[i] {
			k = skip[k-1]
		}
		if text[k] == text[i] {
			k++
		}
		skip[i] = k
	}
	return skip
}

// searchLinear is the algorithm of Knuth, Morris and Pratt, starting at from: slow, but never slower than linear.
func (n *Needle) searchLinear(b []byte, from int) int {
	k := 0
	for i := from; i < len(b); i++ {
		c := b[i]
		if n.fold {
			c = lower(c)
		}
		for k > 0 && n.text[k] != c {
			k = int(n.skip[k-1])
		}
		if n.text[k] == c {
			k++
		}
		if k == len(n.text) {
			return i + 1 - k
		}
	}
	return -1
}

// New returns the needle for a copy of text. With fold ASCII letters of either case match; every other byte matches
// itself alone, always. An empty text is a mistake of the caller: New panics.
func New(text []byte, fold bool) Needle {
	if len(text) == 0 {
		panic("literal: empty text")
	}
	text = bytes.Clone(text)
	if fold {
		for i, c := range text {
			text[i] = lower(c)
		}
	}
	n := Needle{text: text, fold: fold, pair: rarestPair(text, fold), head: newHead(text, fold)}
	if len(text) > shortText {
		n.skip = borders(text)
	}
	return n
}

// Index returns the position of the first occurrence in b, or -1.
func (n *Needle) Index(b []byte) int {
	if len(n.text) == 1 && n.pair.first.or == 0 {
		return bytes.IndexByte(b, n.text[0])
	}
	return n.search(b, wide)
}
