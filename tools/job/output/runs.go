package output

import (
	"slices"
	"sort"
)

// maxRuns is how many changes between the streams are remembered. When there are more, the older half is forgotten.
const maxRuns = 64 << 10

// runs remembers where in the output the streams change. The zero value is that of an empty output.
type runs struct {
	starts []int64 // of runs; the streams alternate
	last   Stream  // of the last run
}

// add notes that s writes at off, which is where the output ends.
func (r *runs) add(off int64, s Stream) {
	if len(r.starts) > 0 && r.last == s {
		return
	}
	if len(r.starts) == maxRuns {
		r.starts = append(r.starts[:0], r.starts[maxRuns/2:]...)
	}
	if len(r.starts) == cap(r.starts) {
		r.starts = slices.Grow(r.starts, max(len(r.starts), 4))
	}
	r.starts, r.last = append(r.starts, off), s
}

// find returns the number of the run that holds the byte at off; -1 for the part whose runs are forgotten.
func (r *runs) find(off int64) int {
	return sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > off }) - 1
}

// get returns run i of an output that ends at end.
func (r *runs) get(i int, end int64) run {
	n := len(r.starts)
	if i < n-1 {
		end = r.starts[i+1]
	}
	if i < 0 {
		return run{to: end}
	}
	return run{from: r.starts[i], to: end, stream: r.last ^ Stream(n-1-i)&1, known: true}
}

// endRuns is how many changes are remembered of an output that has ended: many such are kept.
const endRuns = 8 << 10

// clip gives back the room to grow, and forgets what is too much for an output that has ended.
func (r *runs) clip() { r.starts = slices.Clone(r.starts[max(0, len(r.starts)-endRuns):]) }
