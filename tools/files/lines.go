package files

import "sort"

// maxMarks is the number of entries of a line index: 128 KiB.
const maxMarks = 1 << 14

// lineIndex says how many lines end before places in a file that are stride bytes apart, the first being its beginning.
// Only files whose lines end in LF have any use for it.
type lineIndex struct {
	stride int64
	ended  []int64
}

// mark notes how many lines end before offset, if that is such a place. Offsets come in order. An index that is full
// keeps every second place.
func (x *lineIndex) mark(offset, ended int64) {
	if offset%x.stride == 0 && len(x.ended) == maxMarks {
		kept := make([]int64, 0, maxMarks)
		for i := 0; i < maxMarks; i += 2 {
			kept = append(kept, x.ended[i])
		}
		x.ended, x.stride = kept, 2*x.stride
	}
	if offset%x.stride == 0 {
		x.ended = append(x.ended, ended)
	}
}

// before returns a place from which line can be reached, and how many lines end before that place. At least one line
// ends between the two, so that a character or a CRLF may stand across the place.
func (x *lineIndex) before(line int64) (offset, ended int64) {
	at := sort.Search(len(x.ended), func(i int) bool { return x.ended[i] >= line-1 }) - 1
	if at <= 0 {
		return 0, 0
	}
	return int64(at) * x.stride, x.ended[at]
}
