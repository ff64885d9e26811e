package literal

const (
	maxCrowd = 4 // needles
	maxStep  = 4 // distance in bytes from the first to the last compared byte
)

const (
	// passCost is the cost of scanning one position, relative to a closer look at one.
	passCost = 1.0 / 500
	// affinity is how much more often three bytes of a word occur together than by chance.
	affinity = 4
)

// crowd selects three bytes of each of several needles and compares them at every position, all needles at once. The
// bytes have the same distances in every needle. Where needles differ in a byte, they differ in its lower four bits,
// which select the byte to compare with from a table. A mix of bytes of different needles also fits, so every hit
// must be checked.
type crowd struct {
	tables  [3]nibbles
	steps   [3]int        // distances of the three bytes from the first
	or      byte          // these bits are set in every byte before the comparison
	offsets [maxCrowd]int // offset of the first of the three bytes in each needle
	reach   int           // the largest offset
}

// nibbles maps the lower four bits of a byte to the one byte that fits; an entry with other lower bits fits nothing.
type nibbles [16]byte

// admits reports whether c fits or could be added.
func (t *nibbles) admits(c byte) bool {
	taken := t[c&15]&15 == c&15
	return c < 0x80 && (!taken || t[c&15] == c)
}

// newCrowd returns the crowd of the needles with the fewest expected hits, or nil if scanning the buffer once for
// each needle is cheaper.
func newCrowd(needles Clause) *crowd {
	best := crowd{}
	least := -1.5 * passCost // three bytes cost more than two
	for i := range needles {
		least += passCost + needles[i].pair.share()
	}
	for last := 1; last <= maxStep; last++ {
		for middle := 1; middle < max(last, 2); middle++ {
			c := emptyCrowd(needles, middle, last)
			if share, ok := c.join(needles); ok && share < least {
				best, least = c, share
			}
		}
	}
	if best.steps[2] == 0 {
		return nil
	}
	return &best
}

func emptyCrowd(needles Clause, middle, last int) crowd {
	none := nibbles{1}
	c := crowd{tables: [3]nibbles{none, none, none}, steps: [3]int{0, middle, last}}
	for i := range needles {
		if needles[i].fold {
			c.or = 'a' - 'A'
		}
	}
	return c
}

// join adds the bytes of all needles and returns the expected share of positions with a hit in source text. It fails
// if some needle has no bytes that can be added.
func (c *crowd) join(needles Clause) (positions float64, ok bool) {
	var sums [3]float64
	for i := range needles {
		text := needles[i].text
		at := c.place(text)
		if at < 0 || len(text) > shortText {
			return 0, false
		}
		c.offsets[i], c.reach = at, max(c.reach, at)
		for k, step := range c.steps {
			b := text[at+step]
			c.tables[k][(b|c.or)&15] = b | c.or
			sums[k] += shares[b]
		}
	}
	if c.steps[1] == c.steps[2] {
		sums[2] = 1
	}
	return affinity * sums[0] * sums[1] * sums[2], true
}

// place returns the offset of the rarest bytes in text that can be added, or -1.
func (c *crowd) place(text []byte) int {
	best, rarest := -1, 0
	for i := 0; i+c.steps[2] < len(text); i++ {
		sum, fit := 0, true
		for k, step := range c.steps {
			b := text[i+step]
			sum += rarity(b)
			fit = fit && c.tables[k].admits(b|c.or)
		}
		if fit && sum > rarest {
			best, rarest = i, sum
		}
	}
	return best
}

// Clause is a set of alternatives: a text fulfils it if it contains one of the needles.
type Clause []Needle

// shortText is the largest length of a text that may be compared at every position without much harm.
const shortText = 64
