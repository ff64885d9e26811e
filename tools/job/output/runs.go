package output

import (
	"slices"
	"sort"
)

// maxRuns bounds the remembered switches between the streams. Beyond it, the older half is dropped.
const maxRuns = 64 << 10

// runs remembers where the output switches between the streams. The zero value is that of an empty output.
type runs struct {
	starts []int64 // offsets of the runs; the streams alternate
	last   Stream  // of the last run
}

// add records that s writes at off, the end of the output.
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

// find returns the index of the run that contains the byte at off; -1 for the part whose runs were dropped.
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

// endRuns is the number of switches remembered for an ended output: many of those are kept.
const endRuns = 8 << 10

// clip releases spare capacity, and drops the oldest runs of an ended output beyond endRuns.
func (r *runs) clip() { r.starts = slices.Clone(r.starts[max(0, len(r.starts)-endRuns):]) }
