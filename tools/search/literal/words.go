package literal

import (
	"bytes"
	"encoding/binary"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// A leap over fewer than worthLeaping positions does not pay for its call: then the next walk positions are compared
// by words.
const (
	worthLeaping = 4 * round
	walk         = 32 * round
)

// scanWords is scanWide for every processor. It leaps to the rarest byte while that pays off. Where the byte is
// common or has two cases, it compares words of eight positions instead.
func scanWords(b []byte, rounds int, p *pair) (at int, mask uint64) {
	end := rounds * round
	for at < end {
		stride := end
		if p.first.or == 0 {
			length := leap(b[at:end+p.first.offset], &p.first)
			if at += length; at == end {
				break
			}
			stride = round
			if length < worthLeaping {
				stride = walk
			}
		}
		stop := min(end, at+stride)
		at += passWords(b[at:], (stop-at)/8, p) / round * round
		if at < stop {
			return at, roundMask(b[at:], p)
		}
	}
	return end - round, 0
}

// leap returns the number of positions, in whole rounds, without the byte.
func leap(b []byte, p *probe) int {
	i := bytes.IndexByte(b[p.offset:], p.value)
	if i < 0 {
		i = len(b) - p.offset
	}
	return i / round * round
}

// passWords returns the number of positions without the pair among words times eight.
func passWords(b []byte, words int, p *pair) int {
	first, second := b[p.first.offset:][:words*8], b[p.second.offset:][:words*8]
	w := newWordPair(p)
	for i := 0; i+8 <= len(first); i += 8 {
		if w.places(first[i:i+8], second[i:i+8]) != 0 {
			return i
		}
	}
	return len(first)
}

// roundMask returns a bit for each of the first 64 positions of b where the pair may match.
func roundMask(b []byte, p *pair) (mask uint64) {
	first, second := b[p.first.offset:][:round], b[p.second.offset:][:round]
	w := newWordPair(p)
	for i := 0; i+8 <= round; i += 8 {
		mask |= gather(w.places(first[i:i+8], second[i:i+8])) << i
	}
	return mask
}

// wordPair is a pair for eight positions at once.
type wordPair struct{ value1, or1, value2, or2 uint64 }

func newWordPair(p *pair) wordPair {
	return wordPair{
		value1: ones * uint64(p.first.value), or1: ones * uint64(p.first.or),
		value2: ones * uint64(p.second.value), or2: ones * uint64(p.second.or),
	}
}

// places sets the high bit of each byte where the pair matches, and sometimes of a byte above such a one. Such false
// hits are harmless, because hits are compared.
func (w *wordPair) places(first, second []byte) uint64 {
	differ1 := (binary.LittleEndian.Uint64(first) | w.or1) ^ w.value1
	differ2 := (binary.LittleEndian.Uint64(second) | w.or2) ^ w.value2
	differ := differ1 | differ2
	return (differ - ones) &^ differ & highs
}

// gather turns the high bits of eight bytes into the eight bits of one.
func gather(highs uint64) uint64 {
	return (highs >> 7) * 0x0102040810204080 >> 56
}

// round is the number of positions compared at once: the bits of a mask.
const round = 64
