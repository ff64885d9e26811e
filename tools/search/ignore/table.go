package ignore

// rank orders the rules of one file: the later rule has the higher rank. Its lowest bit is set for a rule with "!",
// which brings back what an earlier one leaves out.
type rank uint32

const none rank = 0

func (r rank) next(negated bool) rank {
	r = (r>>1 + 1) << 1
	if negated {
		r |= 1
	}
	return r
}

func (r rank) ignores() bool { return r != none && r&1 == 0 }

// table finds the last rule for a text that is matched as a whole. The zero value is empty.
type table struct {
	last    map[string]last
	lengths uint64 // bit n: there is a key of n bytes; bit 63: of 63 or more
}

// last has the ranks of the last rule that matches a file and of the last one that matches a directory.
type last struct{ file, dir rank }

// add enters a rule that comes after all others of the table.
func (t *table) add(key string, r rule) {
	if t.last == nil {
		t.last = map[string]last{}
	}
	l := t.last[key]
	l.dir = r.rank
	if !r.dirOnly {
		l.file = r.rank
	}
	t.last[key] = l
	t.lengths |= lengthBit(len(key))
}

// find returns the last rule for key, or none.
func (t *table) find(key []byte, dir bool) rank {
	if t.lengths&lengthBit(len(key)) == 0 { // most names end here, without the cost of hashing them
		return none
	}
	l := t.last[string(key)]
	if dir {
		return l.dir
	}
	return l.file
}

func lengthBit(n int) uint64 { return 1 << min(n, 63) }
