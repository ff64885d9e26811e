package literal

import "math"

// rarities holds the rarity of each ASCII byte in source text and documentation, with both cases of a letter counted
// together: minus the binary logarithm of its share, in eighths. Measured on 200 MB of Go, C, Python and Markdown.
const rarities = "" +
	"\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\x2e\x29\xa0\xa0\xa0\xa0\xa0" +
	"\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\x8b\xa0\xa0\xa0\xa0" +
	"\x13\x54\x38\x44\x5a\x56\x54\x3b\x34\x34\x3d\x52\x2d\x40\x36\x38" + //  !"#$%&'()*+,-./
	"\x2c\x37\x3c\x40\x3f\x42\x42\x47\x43\x45\x38\x48\x51\x3a\x50\x61" + // 0123456789:;<=>?
	"\x62\x27\x35\x2a\x2c\x20\x2e\x34\x34\x26\x51\x3a\x2b\x31\x26\x27" + // @ABCDEFGHIJKLMNO
	"\x2d\x4e\x25\x25\x23\x30\x3a\x3f\x32\x38\x4e\x49\x49\x49\x69\x2d" + // PQRSTUVWXYZ[\]^_
	"\x55\x27\x35\x2a\x2c\x20\x2e\x34\x34\x26\x51\x3a\x2b\x31\x26\x27" + // `abcdefghijklmno
	"\x2d\x4e\x25\x25\x23\x30\x3a\x3f\x32\x38\x4e\x40\x52\x40\x62\xa0" //   pqrstuvwxyz{|}~

// beyondASCII is the rarity of every other byte: much rarer in most texts, but not in a foreign language.
const beyondASCII = 0x68

// rarity returns the rarity of c in eighths of a bit.
func rarity(c byte) int {
	if int(c) < len(rarities) {
		return int(rarities[c])
	}
	return beyondASCII
}

// Weight estimates how selective the needle is: source text has roughly 2 to the power of 20-Weight occurrences per
// MiB, so each point halves them. Needles of 20 and more are rare words, at most one per MiB; "_IRQ" has 17. A lone
// "=" has 7, an occurrence every few lines. The estimate uses single bytes only: keywords of the language also get 10
// to 17 but occur about as often as 10 says.
//
// Searching for occurrences takes a tenth of the time of an automaton on the same bytes, but each occurrence costs as
// much as a hundred bytes: at 7 and below it is as fast to run the automaton over everything.
func (n *Needle) Weight() int {
	eighths := 0
	for _, c := range n.text {
		eighths += rarity(c) / 2
	}
	first := n.text[n.pair.first.offset]
	return (eighths + rarity(first)/2) / 8
}

// shares holds the share of each byte in source text, with both cases of a letter counted together.
var shares = newShares()

func newShares() (table [256]float64) {
	for c := range table {
		table[c] = math.Exp2(-float64(rarity(byte(c))) / 8)
	}
	return table
}
