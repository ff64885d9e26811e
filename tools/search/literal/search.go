package literal

import "math/bits"

// round is the number of positions compared at once: the bits of a mask.
const round = 64

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
