package persist

import (
	"cmp"
	"sort"
)

// maxMarks bounds the offsets that a journal remembers.
const maxMarks = 1024

// marks remembers the offsets of some lines, so that a replay need not read a journal from its first line. When it is
// full it drops every other mark and adds fewer from then on.
type marks struct {
	every int64 // distance between marks; 0 counts as 64
	list  []mark
}

type mark struct{ seq, off int64 }

// add records that line seq begins at off.
func (m *marks) add(seq, off int64) {
	m.every = cmp.Or(m.every, 64)
	if n := len(m.list); n > 0 && seq-m.list[n-1].seq < m.every {
		return
	}
	if len(m.list) == maxMarks {
		m.every *= 2
		for i := range maxMarks / 2 {
			m.list[i] = m.list[2*i]
		}
		m.list = m.list[:maxMarks/2]
	}
	m.list = append(m.list, mark{seq, off})
}

// before returns the offset of a line at or before line seq.
func (m *marks) before(seq int64) int64 {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].seq > seq })
	if i == 0 {
		return 0
	}
	return m.list[i-1].off
}
