package match

import (
	"bytes"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	maxEffort    = 50_000_000 // maximum steps to locate the matches of one line or text: about a second
	effortPerAsk = 1 << 18    // steps between two calls of stop: some milliseconds
	skipPerStep  = 16         // bytes that are skipped in the time of a step
	fewHeads     = 8          // up to so many ASCII bytes, the possible beginnings of a match are found quickly
)

// locator locates matches as regexp does: the leftmost first, and among those at one position the first alternative
// of the pattern.
//
// It follows all threads of a program at once, in that order. Unlike regexp it counts its steps: a match may examine
// the whole rest of a text and end early, and the next match may do so again.
type locator struct {
	instructions
	lookahead
	budget
}

// instructions are the program, with facts about its matches.
type instructions struct {
	prog     *syntax.Prog
	prefix   []byte     // every match begins with this text
	heads    *[256]bool // possible first bytes of a match; nil: a match can be empty
	anchored bool       // a match can only begin at the beginning of a text
	asserts  bool       // the program has assertions about the surroundings of a position
}

// lookahead has the states that a match may be in.
type lookahead struct {
	now, next threadList
	todo      []attempt
}

// budget bounds the steps of a search.
type budget struct {
	tries int  // steps of try left in this search
	quick bool // few positions need a closer look
	left  int  // steps left; negative: the locator gave up
	asked int  // steps since the last call of stop
	stop  func() bool
}

func newLocator(prog *syntax.Prog) *locator {
	l := &locator{instructions: instructions{prog: prog}, lookahead: lookahead{now: newOrdered(prog), next: newOrdered(prog)}}
	l.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	for i := range prog.Inst {
		l.asserts = l.asserts || prog.Inst[i].Op == syntax.InstEmptyWidth
	}
	if !l.anchored {
		prefix, _ := prog.Prefix()
		l.prefix = []byte(prefix)
		l.heads = headsOf(prog)
		l.quick = len(prefix) > 0 || l.heads != nil && few(l.heads)
	}
	return l
}

func few(heads *[256]bool) bool {
	n := 0
	for _, head := range heads[:utf8.RuneSelf] {
		if head {
			n++
		}
	}
	return n <= fewHeads
}

// headsOf returns a superset of the possible first bytes of a match, or nil if a match can be empty.
func headsOf(prog *syntax.Prog) *[256]bool {
	first := newOrdered(prog)
	first.add(uint32(prog.Start), 0, ^syntax.EmptyOp(0))
	var heads [256]bool
	for _, t := range first.threads {
		in := &prog.Inst[t.pc]
		if in.Op == syntax.InstMatch {
			return nil
		}
		for c := range utf8.RuneSelf {
			heads[c] = heads[c] || in.MatchRune(rune(c))
		}
	}
	for c := utf8.RuneSelf; c < len(heads); c++ {
		heads[c] = true
	}
	return &heads
}

// all appends the bounds of the matches in text to dst: at most most of them, or all if most is negative. If ok is
// false it gave up, and dst is incomplete.
func (l *locator) all(dst [][2]int, text []byte, most int) (_ [][2]int, ok bool) {
	l.left = maxEffort
	before := -1 // end of the last match
	for pos := 0; most != 0 && pos <= len(text); {
		begin, end, ok := l.find(text, pos)
		if l.left < 0 {
			return dst, false
		}
		if !ok {
			break
		}
		if pos = end; begin == end {
			_, width := utf8.DecodeRune(text[end:])
			pos += max(width, 1)
		}
		if end > begin || begin != before { // not an empty match right behind another
			dst = append(dst, [2]int{begin, end})
			most--
		}
		before = end
	}
	return dst, true
}

// find returns the first match that begins at or after pos.
func (l *locator) find(text []byte, pos int) (begin, end int, ok bool) {
	l.tries = maxTries
	for {
		if l.anchored && pos > 0 {
			return 0, 0, false
		}
		if pos = l.skip(text, pos); pos < 0 {
			return 0, 0, false
		}
		end, ok, sure := l.try(text, pos)
		if !sure {
			l.spend(maxTries)
			return l.follow(text, pos)
		}
		_, width := runeAt(text, pos)
		if ok || width == 0 || l.spend(1) {
			l.spend(maxTries - l.tries)
			return pos, end, ok
		}
		pos += width
	}
}

// follow implements find by following all threads, however many there are.
func (l *locator) follow(text []byte, pos int) (begin, end int, ok bool) {
	l.now.clear()
	for {
		if len(l.now.threads) == 0 {
			if ok || l.anchored && pos > 0 {
				return begin, end, ok
			}
			if pos = l.skip(text, pos); pos < 0 {
				return 0, 0, false
			}
		}
		if !ok && (pos == 0 || !l.anchored) {
			l.now.add(uint32(l.prog.Start), pos, l.holding(text, pos))
		}
		r, width := runeAt(text, pos)
		if t, accepted := l.step(r, l.holding(text, pos+width)); accepted {
			begin, end, ok = t.begin, pos, true
		}
		if l.spend(1+len(l.now.threads)+l.now.steps) || width == 0 {
			return begin, end, ok
		}
		pos += width
		l.now, l.next = l.next, l.now
	}
}

// step advances the threads by r, up to the first thread that accepts before r: later threads have lower priority.
func (l *locator) step(r rune, holds syntax.EmptyOp) (t thread, accepted bool) {
	l.next.clear()
	for _, t := range l.now.threads {
		in := &l.prog.Inst[t.pc]
		if in.Op == syntax.InstMatch {
			return t, true
		}
		if takes(in, r) {
			l.next.add(in.Out, t.begin, holds)
		}
	}
	return thread{}, false
}

// takes is a faster in.MatchRune.
func takes(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRune1:
		return r == in.Rune[0]
	case syntax.InstRuneAny:
		return r >= 0
	case syntax.InstRuneAnyNotNL:
		return r >= 0 && r != '\n'
	}
	return in.MatchRune(r)
}

// skip returns the first position at or after pos where a match can begin, or -1.
func (l *locator) skip(text []byte, pos int) int {
	to := pos
	switch {
	case len(l.prefix) > 0:
		if i := bytes.Index(text[pos:], l.prefix); i >= 0 {
			to += i
		} else {
			to = len(text) + 1
		}
	case l.heads != nil:
		for to < len(text) && !l.heads[text[to]] {
			to++
		}
	}
	if l.spend((to-pos)/skipPerStep) || to > len(text) {
		return -1
	}
	return to
}

// spend records steps and reports whether the work must stop.
func (l *budget) spend(steps int) bool {
	l.left -= steps
	if l.asked += steps; l.asked >= effortPerAsk && l.stop != nil {
		l.asked = 0
		if l.stop() {
			l.left = -1
		}
	}
	return l.left < 0
}

// holding returns the assertions that hold at pos.
func (l *instructions) holding(text []byte, pos int) syntax.EmptyOp {
	if !l.asserts {
		return 0
	}
	before, after := rune(-1), rune(-1)
	if pos > 0 { // a byte suffices: assertions only distinguish ASCII
		before = rune(text[pos-1])
	}
	if pos < len(text) {
		after = rune(text[pos])
	}
	return syntax.EmptyOpContext(before, after)
}
