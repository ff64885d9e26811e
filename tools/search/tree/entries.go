package tree

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

const (
	maxEntries = 1 << 20   // names read per directory
	bufferSize = 64 << 10  // of raw entries read at a time
	keepNames  = 256 << 10 // largest buffer of names, in bytes, that is reused for the next directory
)

// entry is a name in a directory that is being listed.
type entry struct {
	key  uint64 // the first bytes of its sort key: they decide most comparisons
	ino  uint64
	at   uint32 // where its name begins
	size uint32
	kind Kind

	ignored bool // of a directory: a rule omits everything in it but the files that git tracks
}

// presentNames records the names in a directory that affect the rules.
type presentNames struct{ repository, gitignore, ignore bool }

// names collects the names of the directory that is being listed. The buffers are reused from directory to directory.
type names struct {
	buf     []byte
	text    []byte // all names, one after the other
	entries []entry
	has     presentNames
}

// reset makes room for another directory.
func (n *names) reset() {
	if n.buf == nil {
		n.buf = make([]byte, bufferSize)
	}
	if cap(n.text) > keepNames {
		n.text, n.entries = nil, nil
	}
	n.text, n.entries, n.has = n.text[:0], n.entries[:0], presentNames{}
}

// add adds a name; it returns false if there is no room.
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

// special records names that affect the rules, and reports whether name is never listed.
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

// orderKey returns the first eight bytes of a name's sort key: the name, with a trailing slash for a directory. Names
// contain no zero byte, so a shorter name comes first.
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

// compare orders two entries by path: the name of a directory is followed by a slash.
func compare(a, b *entry, text string) int {
	n := min(a.size, b.size)
	if c := strings.Compare(text[a.at:a.at+n], text[b.at:b.at+n]); c != 0 {
		return c
	}
	return cmp.Compare(a.byteAt(n, text), b.byteAt(n, text))
}

// byteAt returns byte n of the entry's sort key; 0 is its end.
func (e *entry) byteAt(n uint32, text string) byte {
	switch {
	case n < e.size:
		return text[e.at+n]
	case e.kind == directory:
		return '/'
	}
	return 0
}
