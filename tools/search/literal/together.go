package literal

import "math/bits"

// findTogether is find with the crowd of the group. After a hit the search continues as far as the bytes of a needle
// that begins earlier could be.
func (g *group) findTogether(b []byte, from int) occurrence {
	first := occurrence{len(b), -1}
	end := len(b) - g.crowd.steps[2]
	for at := from; at < end; at += round {
		at = min(at, end-round)
		skipped, mask := scanCrowd(&b[at], (end-at)/round, g.crowd)
		at += skipped
		for ; mask != 0; mask &= mask - 1 {
			place := at + bits.TrailingZeros64(mask)
			for i := range g.needles {
				o := occurrence{place - g.crowd.offsets[i], g.number + i}
				if o.at >= from && o.before(first) && g.needles[i].fits(b, o.at) {
					first = o
				}
			}
		}
		end = min(end, first.at+g.crowd.reach+1)
	}
	return first
}

func (o occurrence) before(other occurrence) bool {
	return o.at < other.at || o.at == other.at && o.which < other.which
}
