package match

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// pending holds bytes that were read but not yet passed to the rune automaton: the first bytes of a rune, or a \r
// that belongs to the line end if \n follows. The zero value holds none.
type pending struct {
	have, need uint8 // bytes read, and bytes that are missing; a \r has need 0
	uniform    bool  // the pattern treats all runes with this beginning alike, and all are valid
	low        rune  // the lowest rune with this beginning; with uniform, an equivalent one
}

// lead returns the pending state after the first byte of a multi-byte rune; ok is false if c cannot begin one.
func lead(c byte) (p pending, ok bool) {
	switch {
	case c < 0xC2 || c > 0xF4:
		return pending{}, false
	case c < 0xE0:
		return pending{have: 1, need: 1, low: rune(c&0x1F) << 6}, true
	case c < 0xF0:
		return pending{have: 1, need: 2, low: rune(c&0x0F) << 12}, true
	}
	return pending{have: 1, need: 3, low: rune(c&0x07) << 18}, true
}

// add returns the pending state after a further byte c; ok is false if c cannot follow.
func (p pending) add(c byte) (next pending, ok bool) {
	if p.need == 0 || c&0xC0 != 0x80 {
		return pending{}, false
	}
	next = pending{have: p.have + 1, need: p.need - 1, uniform: p.uniform, low: p.low}
	if p.uniform {
		return next, true
	}
	next.low |= rune(c&0x3F) << (6 * next.need)
	return next, validRange(next)
}

// validRange reports whether the first two bytes are valid together. Later continuation bytes may have any value.
func validRange(p pending) bool {
	switch p.have + p.need {
	case 3:
		return p.low >= 0x800 && !(0xD800 <= p.low && p.low < 0xE000)
	case 4:
		return 0x10000 <= p.low && p.low <= unicode.MaxRune
	}
	return true
}

// alphabet describes the runes that a program can tell apart. It is immutable.
type alphabet struct {
	bounds []rune                // sorted; a bound may be treated differently from the rune before it
	class  [utf8.RuneSelf][]byte // for each ASCII byte the bytes that are treated alike
}

// newAlphabet collects the bounds from the instructions of a program.
func newAlphabet(prog *syntax.Prog) *alphabet {
	a := &alphabet{bounds: []rune{'\n', '\n' + 1, '\r', '\r' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1,
		utf8.RuneSelf, utf8.RuneError, utf8.RuneError + 1}}
	known := map[*rune]bool{} // repetitions share their rune slices
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch {
		case in.Op != syntax.InstRune && in.Op != syntax.InstRune1 || len(in.Rune) == 0 || known[&in.Rune[0]]:
			continue
		case len(in.Rune) == 1:
			a.one(in.Rune[0], syntax.Flags(in.Arg)&syntax.FoldCase != 0)
		default:
			a.ranges(in.Rune)
		}
		known[&in.Rune[0]] = true
	}
	slices.Sort(a.bounds)
	a.bounds = slices.Compact(a.bounds)
	a.classify()
	return a
}

// ranges adds pairs of first and last runes.
func (a *alphabet) ranges(runes []rune) {
	for i := 0; i+1 < len(runes); i += 2 {
		a.bounds = append(a.bounds, runes[i], runes[i+1]+1)
	}
}

// one adds a single rune, with fold in all its cases.
func (a *alphabet) one(r rune, fold bool) {
	a.bounds = append(a.bounds, r, r+1)
	for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
		a.bounds = append(a.bounds, f, f+1)
	}
}

// classify groups the ASCII bytes that no instruction tells apart.
func (a *alphabet) classify() {
	c := 0
	for _, bound := range a.bounds { // utf8.RuneSelf is one of them
		first := c
		var alike []byte
		for ; c < min(int(bound), utf8.RuneSelf); c++ {
			alike = append(alike, byte(c))
		}
		for same := first; same < c; same++ {
			a.class[same] = alike
		}
	}
}

// interval returns the index of the first bound above r.
func (a *alphabet) interval(r rune) int {
	at, found := slices.BinarySearch(a.bounds, r)
	if found {
		at++
	}
	return at
}

// settle removes irrelevant details from p, so that texts in other scripts need few states.
func (a *alphabet) settle(p pending) pending {
	if p.need == 0 || p.uniform || p.have == 1 && !anyFollows(p) {
		return p
	}
	at := a.interval(p.low)
	if high := p.low + 1<<(6*p.need) - 1; at < len(a.bounds) && a.bounds[at] <= high {
		return p
	}
	p.uniform = true
	p.low = a.bounds[at-1] // there is one: the first is below every rune of two bytes
	return p
}

// anyFollows reports whether each continuation byte can be the second byte.
func anyFollows(p pending) bool {
	step := rune(1) << (6 * (p.need - 1))
	first, last := p, p
	first.need, last.need = p.need-1, p.need-1
	first.have, last.have = 2, 2
	last.low += 63 * step
	return validRange(first) && validRange(last)
}
