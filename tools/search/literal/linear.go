package literal

// shortText is the length up to which a text may be compared at every position without much harm.
const shortText = 64

// allowance is how many bytes may be compared in vain before time has to be in proportion to the bytes passed.
const allowance = 1 << 12

// waste is how many bytes a look at position i of b, where the needle is not, may have cost. Only long texts with
// a buffer that is made to resemble them waste any worth counting.
func (n *Needle) waste(b []byte, i int) int {
	if n.skip == nil || !n.head.matches(b[i:]) {
		return 0
	}
	return len(n.text)
}

// borders returns for each prefix of text the length of the longest shorter one that it also ends with.
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

// searchLinear is the search of Knuth, Morris and Pratt from position from on: slow, but always equally slow.
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
