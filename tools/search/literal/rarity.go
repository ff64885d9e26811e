package literal

import "math"

// rarities has for each ASCII byte how rare it is in source text and documentation, either case counted as one: minus
// the binary logarithm of its share, in eighths. Taken from 200 MB of Go, C, Python and Markdown.
const rarities = "" +
	"\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\x2e\x29\xa0\xa0\xa0\xa0\xa0" +
	"\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0\x8b\xa0\xa0\xa0\xa0" +
	"\x13\x54\x38\x44\x5a\x56\x54\x3b\x34\x34\x3d\x52\x2d\x40\x36\x38" + //  !"#$%&'()*+,-./
	"\x2c\x37\x3c\x40\x3f\x42\x42\x47\x43\x45\x38\x48\x51\x3a\x50\x61" + // 0123456789:;<=>?
	"\x62\x27\x35\x2a\x2c\x20\x2e\x34\x34\x26\x51\x3a\x2b\x31\x26\x27" + // @ABCDEFGHIJKLMNO
	"\x2d\x4e\x25\x25\x23\x30\x3a\x3f\x32\x38\x4e\x49\x49\x49\x69\x2d" + // PQRSTUVWXYZ[\]^_
	"\x55\x27\x35\x2a\x2c\x20\x2e\x34\x34\x26\x51\x3a\x2b\x31\x26\x27" + // `abcdefghijklmno
	"\x2d\x4e\x25\x25\x23\x30\x3a\x3f\x32\x38\x4e\x40\x52\x40\x62\xa0" //   pqrstuvwxyz{|}~

// beyondASCII stands for every other byte: much rarer in most texts, but not in those of a foreign language.
const beyondASCII = 0x68

// rarity says how rare c is, in eighths of a bit.
func rarity(c byte) int {
	if int(c) < len(rarities) {
		return int(rarities[c])
	}
	return beyondASCII
}

// Weight says how well the needle selects: source text has roughly 2 to the power of 20-Weight occurrences per MiB, so
// that one more halves them. 20 and more are rare words, one in a MiB or none; "_IRQ" has 17. A lone "=" has 7, which is
// an occurrence every few lines. It is drawn from single bytes: a keyword of the language, which has 10 to 17 as well,
// occurs more often than that, about as often as 10 says.
//
// Looking for occurrences takes a tenth of the time that an automaton takes for the same bytes, but each one that is
// found costs as much as a hundred bytes: at 7 and below it is as fast to run the automaton over everything.
func (n *Needle) Weight() int {
	eighths := 0
	for _, c := range n.text {
		eighths += rarity(c) / 2
	}
	first := n.text[n.pair.first.offset]
	return (eighths + rarity(first)/2) / 8
}

// shares has for each byte how many of the bytes of source text it is, either case counted as one.
var shares = newShares()

func newShares() (table [256]float64) {
	for c := range table {
		table[c] = math.Exp2(-float64(rarity(byte(c))) / 8)
	}
	return table
}
