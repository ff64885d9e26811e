package index

import (
	"iter"
	"math/bits"

	"toolhost/tools/search/literal"
)

const (
	maxTrigrams = 64   // trigrams looked up per needle; more of them select no better
	maxLookups  = 4096 // lookups per query and block
)

// Candidates are the chunks that may match a query. They reflect the index at the time of the Query and take a bit
// per chunk.
type Candidates struct {
	words []uint64 // by block; blocks beyond the end did not exist then
}

// Has reports whether a chunk may contain a needle of each clause. It is true for every chunk that does, and for
// chunks that were added after the Query; for unused IDs the result is undefined. The zero Candidates contain every
// chunk.
func (c *Candidates) Has(id ID) bool {
	n := int(id / 64)
	return n >= len(c.words) || c.words[n]>>(id%64)&1 != 0
}

// Named yields, in order, the chunks that may contain a needle of each clause, except chunks that were added after
// the Query.
func (c *Candidates) Named() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for n, word := range c.words {
			for ; word != 0; word &= word - 1 {
				if !yield(ID(n*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Query returns the chunks that may contain at least one needle of every clause.
//
// A needle of fewer than three bytes selects nothing, so its whole clause is skipped. Needles beyond some thousand
// are skipped too. If ok is false no clause is left, and every chunk is a candidate.
func (x *Index) Query(all []literal.Clause) (c Candidates, ok bool) {
	p := newPlan(all)
	if len(p) == 0 {
		return Candidates{}, false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	c.words = make([]uint64, len(x.blocks))
	for class, numbers := range x.classes {
		shift := shiftOf(class)
		for _, n := range numbers {
			b := x.blocks[n]
			c.words[n] = b.find(p, shift) | ^uint64(0)<<b.used
		}
	}
	return c, true
}

// plan holds the hashes to look up, by clause and needle.
type plan [][][]uint32

func newPlan(all []literal.Clause) (p plan) {
	lookups := 0
	for _, clause := range all {
		needles, n := planClause(clause)
		if n == 0 || lookups+n > maxLookups {
			continue
		}
		lookups += n
		p = append(p, needles)
	}
	return p
}

// planClause returns the hashes of each needle and their number; 0 if the clause selects nothing.
func planClause(clause literal.Clause) (needles [][]uint32, lookups int) {
	if len(clause) > maxLookups {
		return nil, 0
	}
	for i := range clause {
		hashes := trigrams(clause[i].Text())
		if len(hashes) == 0 {
			return nil, 0
		}
		lookups += len(hashes)
		needles = append(needles, hashes)
	}
	return needles, lookups
}

// trigrams returns the hashes of the trigrams in text; of a long text, maxTrigrams spread over it.
func trigrams(text []byte) (hashes []uint32) {
	count := len(text) - 2
	step := max(1, (count+maxTrigrams-1)/maxTrigrams)
	for i := 0; i < count; i += step {
		t := uint32(folded[text[i]])<<16 | uint32(folded[text[i+1]])<<8 | uint32(folded[text[i+2]])
		hashes = append(hashes, hash(t))
	}
	return hashes
}

// find returns the chunks of b that have, for each clause, all trigrams of one of its needles.
func (b *block) find(p plan, shift int) uint64 {
	found := ^uint64(0)
	for _, clause := range p {
		var some uint64
		for _, hashes := range clause {
			some |= b.having(found, hashes, shift)
			if some == found {
				break
			}
		}
		if found = some; found == 0 {
			break
		}
	}
	return found
}

// having returns the subset of chunks with all of the trigrams.
func (b *block) having(chunks uint64, hashes []uint32, shift int) uint64 {
	for _, h := range hashes {
		if chunks &= b.rows[h>>(shift&31)]; chunks == 0 {
			break
		}
	}
	return chunks
}
