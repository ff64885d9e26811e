package tree

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

const (
	maxEntries = 1 << 20   // names of one directory that are looked at
	bufferSize = 64 << 10  // of raw entries read at a time
	keepNames  = 256 << 10 // bytes of names for which room is kept between directories
)

// entry is a name in a directory that is being listed.
type entry struct {
	key  uint64 // the first bytes of its path order: most comparisons end here
	ino  uint64
	at   uint32 // where its name begins
	size uint32
	kind Kind
}

// present says which of the names that matter to the rules a directory holds.
type present struct{ repository, gitignore, ignore bool }

// names are those of one directory while it is being listed. They are kept from one directory to the next, which
// saves their allocation.
type names struct {
	buf     []byte
	text    []byte // all names, one after the other
	entries []entry
	has     present
}

// reset makes room for another directory.
func (n *names) reset() {
	if n.buf == nil {
		n.buf = make([]byte, bufferSize)
	}
	if cap(n.text) > keepNames {
		n.text, n.entries = nil, nil
	}
	n.text, n.entries, n.has = n.text[:0], n.entries[:0], present{}
}

// add takes a name in; false: there is no room for it.
func (n *names) add(name []byte, ino uint64, kind Kind) bool {
	if len(n.entries) >= maxEntries {
		return false
	}
	if name[0] == '.' && n.special(name, kind) {
		return true
	}
	n.entries = append(n.entries, entry{
		key: orderKey(name, kind), ino: ino, at: uint32(len(n.text)), size: uint32(len(name)), kind: kind,
	})
	n.text = append(n.text, name...)
	return true
}

// special notes names that matter to the rules, and reports whether name is never listed.
func (n *names) special(name []byte, kind Kind) bool {
	switch string(name) {
	case ".git":
		n.has.repository = n.has.repository || kind == directory || kind == Regular
		return true
	case ".gitignore":
		n.has.gitignore = kind == Regular
	case ".ignore":
		n.has.ignore = kind == Regular
	}
	return false
}

// orderKey returns the first eight bytes of what a name is ordered by: itself, with a slash for a directory. No name
// has a zero byte, so that a shorter one comes first.
func orderKey(name []byte, kind Kind) uint64 {
	var b [8]byte
	if n := copy(b[:], name); n < len(b) && kind == directory {
		b[n] = '/'
	}
	return binary.BigEndian.Uint64(b[:])
}

// sortEntries puts entries, whose names are in text, into path order.
func sortEntries(entries []entry, text string) {
	slices.SortFunc(entries, func(a, b entry) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return compare(&a, &b, text)
	})
}

// compare compares two entries as their paths order what is below them: a directory's name has a slash at its end.
func compare(a, b *entry, text string) int {
	n := min(a.size, b.size)
	if c := strings.Compare(text[a.at:a.at+n], text[b.at:b.at+n]); c != 0 {
		return c
	}
	return cmp.Compare(a.byteAt(n, text), b.byteAt(n, text))
}

// byteAt returns what comes at n in the entry's order; 0 is its end.
func (e *entry) byteAt(n uint32, text string) byte {
	switch {
	case n < e.size:
		return text[e.at+n]
	case e.kind == directory:
		return '/'
	}
	return 0
}
