package match

import (
	"regexp/syntax"
	"unicode/utf8"
)

// maxTries is the number of guess steps in one search: enough for most lines, and cheap if they fail.
const maxTries = 512

// attempt is an instruction and its position in the text.
type attempt struct {
	pc  uint32
	pos int
}

// try guesses whether a match begins at pos, and where it ends. It follows the preferred thread and, if that fails,
// the next one (backtracking). This is the fastest method for most lines and hopeless for some: then sure is false.
func (l *locator) try(text []byte, pos int) (end int, ok, sure bool) {
	todo := append(l.todo[:0], attempt{uint32(l.prog.Start), pos})
	defer func() { l.todo = todo }()
	for len(todo) > 0 {
		a := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for alive := true; alive; {
			if l.tries--; l.tries < 0 {
				return 0, false, false
			}
			switch in := &l.prog.Inst[a.pc]; in.Op {
			case syntax.InstMatch:
				return a.pos, true, true
			case syntax.InstAlt, syntax.InstAltMatch:
				todo = append(todo, attempt{in.Arg, a.pos})
				a.pc = in.Out
			default:
				alive = l.advance(text, in, &a)
			}
		}
	}
	return 0, false, true
}

// advance moves a past the instruction in. It returns false if the thread dies.
func (l *instructions) advance(text []byte, in *syntax.Inst, a *attempt) bool {
	a.pc = in.Out
	switch in.Op {
	case syntax.InstFail:
		return false
	case syntax.InstCapture, syntax.InstNop:
		return true
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^l.holding(text, a.pos) == 0
	}
	r, width := runeAt(text, a.pos)
	a.pos += width
	return takes(in, r)
}

// runeAt returns the rune at pos, or endOfText with width 0.
func runeAt(text []byte, pos int) (r rune, width int) {
	switch {
	case pos >= len(text):
		return endOfText, 0
	case text[pos] < utf8.RuneSelf:
		return rune(text[pos]), 1
	}
	return utf8.DecodeRune(text[pos:])
}
