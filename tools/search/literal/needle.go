// Package literal finds short texts in large buffers about as fast as memory delivers them.
//
// It compares the two rarest bytes of a text at 64 positions a round and looks closer only where both match. Nothing
// here reads beyond the slice that it was given, allocates while it searches, or takes more than time proportional to
// the size of the buffer.
package literal

import (
	"bytes"
	"encoding/binary"
)

// Needle is a text to search for. It is immutable: goroutines may share it.
type Needle struct {
	text []byte
	fold bool
	pair pair
	head head
	skip []int32 // for long texts, see searchLinear
}

// Text returns the text, in lower case (ASCII) if the needle folds. It belongs to the needle.
func (n *Needle) Text() []byte { return n.text }

// Fold reports whether ASCII letters of either case match.
func (n *Needle) Fold() bool { return n.fold }

// matches reports whether b contains the needle at position i. At least the needle's length must be left there.
func (n *Needle) matches(b []byte, i int) bool {
	if i+8 <= len(b) {
		if !n.head.matches(b[i:]) {
			return false
		}
		if len(n.text) <= 8 {
			return true
		}
	}
	return n.equal(b[i : i+len(n.text)])
}

// equal reports whether b, which is as long as the needle's text, is an occurrence.
func (n *Needle) equal(b []byte) bool {
	if !n.fold {
		return bytes.Equal(b, n.text)
	}
	for i, c := range n.text {
		if lower(b[i]) != c {
			return false
		}
	}
	return true
}

// head is the first eight bytes of a text, or all when there are fewer, compared at once.
type head struct{ value, or, mask uint64 }

func newHead(text []byte, fold bool) head {
	var value, or, mask [8]byte
	for i := range copy(value[:], text) {
		or[i], mask[i] = caseBit(text[i], fold), 0xff
	}
	return head{binary.LittleEndian.Uint64(value[:]), binary.LittleEndian.Uint64(or[:]), binary.LittleEndian.Uint64(mask[:])}
}

// matches reports whether b, of at least eight bytes, begins with the head.
func (h *head) matches(b []byte) bool {
	return (binary.LittleEndian.Uint64(b)|h.or)&h.mask == h.value
}

// caseBit returns the bit that distinguishes the cases of the lower case letter c; 0 for other bytes and if fold is
// not set. c is the only byte besides its upper case that becomes c when the bit is set.
func caseBit(c byte, fold bool) byte {
	if fold && 'a' <= c && c <= 'z' {
		return 'a' - 'A'
	}
	return 0
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// fits reports whether b contains the needle at position i.
func (n *Needle) fits(b []byte, i int) bool {
	return i+len(n.text) <= len(b) && n.matches(b, i)
}
