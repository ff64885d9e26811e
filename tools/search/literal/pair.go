package literal

// probe is one byte of a text: the byte at offset, with the bits of or set, has to be value.
type probe struct {
	offset    int
	value, or byte
}

// pair is the two bytes of a text that are compared at every position. For a text of one byte they are equal.
type pair struct{ first, second probe }

// rarestPair returns the rarest byte of text and the rarest different byte. If all bytes are equal it takes the two
// ends, because long runs are rare.
func rarestPair(text []byte, fold bool) pair {
	first := rarest(text, -1)
	second := rarest(text, int(text[first]))
	if second < 0 {
		first, second = len(text)-1, 0
	}
	return pair{newProbe(text, first, fold), newProbe(text, second, fold)}
}

// rarest returns the index of the rarest byte of text other than without, or -1.
func rarest(text []byte, without int) int {
	best := -1
	for i, c := range text {
		if int(c) != without && (best < 0 || rarity(c) > rarity(text[best])) {
			best = i
		}
	}
	return best
}

func newProbe(text []byte, i int, fold bool) probe {
	return probe{offset: i, value: text[i], or: caseBit(text[i], fold)}
}

// matches reports whether both bytes match at position i of b.
func (p *pair) matches(b []byte, i int) bool {
	return b[i+p.first.offset]|p.first.or == p.first.value && b[i+p.second.offset]|p.second.or == p.second.value
}

// share returns the expected share of positions in source text where both bytes match.
func (p *pair) share() float64 {
	if p.first.value == p.second.value {
		return shares[p.first.value]
	}
	return shares[p.first.value] * shares[p.second.value]
}
