package literal

// shortText is the largest length of a text that may be compared at every position without much harm.
const shortText = 64

// allowance is the number of bytes that may be compared in vain before the linear search takes over.
const allowance = 1 << 12

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
