package match

import "bytes"

// run4 advances over four texts of the same length until one reaches a special transition. It returns the number of
// bytes consumed from each.
func run4(table []uint32, text *[4][]byte, states *[4]uint32) int {
	t0 := text[0]
	n := len(t0)
	t1, t2, t3 := text[1][:n], text[2][:n], text[3][:n]
	s0, s1, s2, s3 := states[0], states[1], states[2], states[3]
	i := 0
	for ; i < n; i++ {
		n0 := table[s0|uint32(t0[i])]
		n1 := table[s1|uint32(t1[i])]
		n2 := table[s2|uint32(t2[i])]
		n3 := table[s3|uint32(t3[i])]
		if (n0|n1|n2|n3)&special != 0 {
			break
		}
		s0, s1, s2, s3 = n0, n1, n2, n3
	}
	*states = [4]uint32{s0, s1, s2, s3}
	return i
}

// run advances over a text up to a special transition. It returns the number of bytes consumed.
func run(table []uint32, text []byte, state uint32) (int, uint32) {
	for i, c := range text {
		next := table[state|uint32(c)]
		if next&special != 0 {
			return i, state
		}
		state = next
	}
	return len(text), state
}

// skipCost is the cost of a skip, in bytes that run processes meanwhile.
const skipCost = 4

// runSkipping is run for lines: in the dead state it skips to the next line. It also returns the number of bytes
// saved.
func runSkipping(table []uint32, text []byte, state uint32) (i, saved int, _ uint32) {
	for i < len(text) {
		next := table[state|uint32(text[i])]
		if next-1 < special-1 { // neither dead nor special
			state = next
			i++
			continue
		}
		if next != dead {
			break
		}
		rest := bytes.IndexByte(text[i:], '\n')
		if rest < 0 {
			return len(text), saved + len(text) - i, dead
		}
		saved += rest - skipCost
		i += rest + 1
		state = start
	}
	return i, saved, state
}

// runWaiting is run for a pattern that needs c to leave the state start. It also returns the number of bytes saved.
func runWaiting(table []uint32, text []byte, state uint32, c byte) (i, saved int, _ uint32) {
	for i < len(text) {
		if state == start {
			skip := bytes.IndexByte(text[i:], c)
			if skip < 0 {
				return len(text), saved + len(text) - i, start
			}
			saved += skip - skipCost
			i += skip
		}
		next := table[state|uint32(text[i])]
		if next&special != 0 {
			break
		}
		state = next
		i++
	}
	return i, saved, state
}
