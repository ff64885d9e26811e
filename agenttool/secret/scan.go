package secret

import (
	"maps"
	"slices"
	"strings"
)

// matcher finds the literals of forms in one pass. It looks at the pairs of bytes at even offsets: of three bytes of a
// literal, its window, one pair is among these. It is read-only.
type matcher struct {
	pairs   [1 << 13]byte // bits: the pairs that a window contains
	triples [1 << 13]byte // bits: hashes of the windows
	windows map[[3]byte][]anchor
}

// anchor is a literal to compare where its window occurs.
type anchor struct {
	literal string
	window  int // offset in the literal
	form    *form
}

func newMatcher(all []form) *matcher {
	m := &matcher{windows: map[[3]byte][]anchor{}}
	for i := range all {
		m.add(&all[i])
	}
	return m
}

// with returns a matcher that also knows f.
func (m *matcher) with(f *form) *matcher {
	more := &matcher{pairs: m.pairs, triples: m.triples, windows: maps.Clone(m.windows)}
	more.add(f)
	return more
}

func (m *matcher) add(f *form) {
	for _, literal := range f.literals {
		at := rarest(literal)
		w := [3]byte([]byte(literal[at:]))
		for i := range 2 {
			pair := uint16(w[i])<<8 | uint16(w[i+1])
			m.pairs[pair>>3] |= 1 << (pair & 7)
		}
		h := hash(w[0], w[1], w[2])
		m.triples[h>>3] |= 1 << (h & 7)
		m.windows[w] = append(slices.Clip(m.windows[w]), anchor{literal, at, f})
	}
}

// rarest returns the offset of the three bytes of a literal whose pairs are the least frequent in text.
func rarest(literal string) (best int) {
	least := 1 << 30
	for i := 0; i+3 <= len(literal); i++ {
		if weight := frequency(literal[i:i+2]) + frequency(literal[i+1:i+3]); weight < least {
			best, least = i, weight
		}
	}
	return best
}

// frequent are the pairs that are the most frequent in code, English and records.
const frequent = " ss rd wo sw ai ke er re es st on te in nt th or se an he en rr de et at ng ea ro it le ti ri tr co tt ad un al ed nc me ne il nd od ht ue tp ra if " +
	"eq ns ur is ec lo ct am ni to tu li ve ot io ta nn rn ar os po sp fu ou ch ca qu oo pe ha ll us ie ce rt ut ts as ex fo pa ck ho ma el oc " +
	`", ," ": :" `

// frequency is a rough measure of how often a pair of bytes occurs in text, code and JSON.
func frequency(pair string) (weight int) {
	if strings.Contains(frequent, " "+pair+" ") {
		return 40
	}
	for _, c := range []byte(pair) {
		switch {
		case c == ' ':
			weight += 16
		case c == '"', c == '/', c >= 'a' && c <= 'z':
			weight += 4
		case c >= '0' && c <= '9', c == '_', c == '.':
			weight += 2
		}
	}
	return weight
}

// candidates calls see for each occurrence of a literal, until it returns false. It reports whether it looked at all.
func (m *matcher) candidates(b []byte, see func(f *form, at, n int) bool) bool {
	for i := 0; i+1 < len(b); i += 2 {
		pair := uint16(b[i])<<8 | uint16(b[i+1])
		if m.pairs[pair>>3]&(1<<(pair&7)) == 0 {
			continue
		}
		if i > 0 && m.likely(b[i-1], b[i], b[i+1]) && !m.window(b, i-1, see) {
			return false
		}
		if i+2 < len(b) && m.likely(b[i], b[i+1], b[i+2]) && !m.window(b, i, see) {
			return false
		}
	}
	return true
}

// hash returns 16 bits for three bytes.
func hash(a, b, c byte) uint16 {
	return uint16((uint32(a)<<16 | uint32(b)<<8 | uint32(c)) * 2654435761 >> 16)
}

// likely reports whether three bytes may be a window.
func (m *matcher) likely(a, b, c byte) bool {
	h := hash(a, b, c)
	return m.triples[h>>3]&(1<<(h&7)) != 0
}

// window looks at one window, and goes on unless see ends it.
func (m *matcher) window(b []byte, i int, see func(f *form, at, n int) bool) bool {
	for _, a := range m.windows[[3]byte(b[i:i+3])] {
		at := i - a.window
		if at >= 0 && at+len(a.literal) <= len(b) && string(b[at:at+len(a.literal)]) == a.literal && !see(a.form, at, len(a.literal)) {
			return false
		}
	}
	return true
}
