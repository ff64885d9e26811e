package index

import (
	"encoding/binary"
	"math/bits"
)

const (
	minRowBits = 7
	maxRowBits = 15
	classes    = maxRowBits - minRowBits + 1
)

// folded maps each byte to its form in the index.
var folded = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()

// hash spreads the trigram in the lower three bytes of t over 32 bits; the upper bits are the best.
func hash(t uint32) uint32 { return (t << 8) * 0x9E3779B1 }

// classOf returns the size class of a chunk of n bytes. Blocks of class c have 2^(minRowBits+c) rows, between half as
// many and as many as a chunk has bytes. Chunks above ChunkSize use the last class and set more rows.
func classOf(n int) int {
	return min(max(bits.Len(uint(max(n, 1)-1))-1, minRowBits), maxRowBits) - minRowBits
}

// shiftOf returns the number of bits to shift a hash right to get a row of the class.
func shiftOf(class int) int { return 32 - minRowBits - class }

// signature has a byte for every row of a block: 1 if the chunk sets its bit there, else 0. Storing a byte costs half
// as much as setting a bit, and this loop dominates the time to build an index.
type signature [1 << maxRowBits]byte

// sign marks the rows of the trigrams in text, for a block of the class.
func (s *signature) sign(text []byte, class int) {
	if len(text) < 3 {
		return
	}
	shift := shiftOf(class)
	t := uint32(folded[text[0]])<<8 | uint32(folded[text[1]])
	for _, c := range text[2:] {
		t = t<<8 | uint32(folded[c])
		s[hash(t)>>(shift&31)%(1<<maxRowBits)] = 1
	}
}

// moveTo sets bit in the marked rows, and clears the marks.
func (s *signature) moveTo(rows []uint64, bit uint64) {
	for i := 0; i < len(rows); i += 8 {
		eight := binary.LittleEndian.Uint64(s[i:])
		if eight == 0 {
			continue
		}
		binary.LittleEndian.PutUint64(s[i:], 0)
		for ; eight != 0; eight &= eight - 1 {
			rows[i+bits.TrailingZeros64(eight)/8] |= bit
		}
	}
}
