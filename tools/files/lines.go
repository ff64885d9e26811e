package files

import "sort"

// maxMarks is the number of entries of a line index: 128 KiB.
const maxMarks = 1 << 14

// lineIndex holds the number of lines that end before each multiple of stride in a file. It only serves files with
// lines that end in LF.
type lineIndex struct {
	stride int64
	ended  []int64
}

// mark records the number of lines that end before offset, if offset is a multiple of stride. Offsets must ascend. A
// full index drops every second entry.
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

// before returns an indexed offset before line, and the number of lines that end before it. At least one line end
// lies between the offset and line, so that a character or a CRLF may lie across the offset.
func (x *lineIndex) before(line int64) (offset, ended int64) {
	at := sort.Search(len(x.ended), func(i int) bool { return x.ended[i] >= line-1 }) - 1
	if at <= 0 {
		return 0, 0
	}
	return int64(at) * x.stride, x.ended[at]
}
