package literal

const (
	maxCrowd = 4 // needles
	maxStep  = 4 // bytes from the first to the last that are compared
)

const (
	// passCost is what a scan costs at each position, in terms of what it costs to look closer at one.
	passCost = 1.0 / 500
	// affinity is how many times more often three bytes of words are together than chance would have it.
	affinity = 4
)

// crowd is three bytes of each of several needles that are compared at every position, all needles at once: they are
// equally far apart in every needle, and where needles differ in one they differ in its lower four bits, so that these
// choose from a table the byte to compare with. Bytes of different needles beside one another fit as well: what is
// found has to be looked at.
type crowd struct {
	tables  [3]nibbles
	steps   [3]int        // how far each of the three is from the first
	or      byte          // these bits are set in every byte before it is compared
	offsets [maxCrowd]int // where the first of the three is in each needle
	reach   int           // the largest offset
}

// nibbles has for each value of a byte's lower four bits the one byte that fits, or one with other lower bits: none.
type nibbles [16]byte

// admits reports whether c fits or could be added.
func (t *nibbles) admits(c byte) bool {
	taken := t[c&15]&15 == c&15
	return c < 0x80 && (!taken || t[c&15] == c)
}

// newCrowd returns the crowd of the needles that is the least often in place, or nil when it is better to pass over the
// buffer once for each needle.
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

// join adds the bytes of all needles and returns at which share of the positions of source text they are in place. It
// fails when some have no bytes that can be added.
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
