package match

import (
	"math/bits"
	"regexp/syntax"
)

const (
	opsBegin = syntax.EmptyBeginLine | syntax.EmptyBeginText
	opsEnd   = syntax.EmptyEndLine | syntax.EmptyEndText
)

// before is the kind of rune before a position, as far as assertions look back.
type before uint8

const (
	beforeOther before = iota
	beforeWord         // a word character
	beforeText         // the beginning of the text
	beforeLine         // \n, with Multiline
)

// endOfText represents the position after a text.
const endOfText = -1

// holding returns the assertions that hold after prev, independently of the next rune.
func (prev before) holding() syntax.EmptyOp {
	switch prev {
	case beforeText:
		return opsBegin
	case beforeLine:
		return syntax.EmptyBeginLine
	}
	return 0
}

// holdingAt returns the assertions that hold between prev and r.
func (prev before) holdingAt(r rune) syntax.EmptyOp {
	op := prev.holding()
	switch r {
	case endOfText:
		op |= opsEnd
	case '\n':
		op |= syntax.EmptyEndLine
	}
	if (prev == beforeWord) != syntax.IsWordChar(r) {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}

// threads is the set of a program's instructions at one position: those that consume a rune, and assertions about the
// next rune.
type threads struct {
	prog     *syntax.Prog
	set      []uint64 // one bit for each instruction
	seen     []uint64 // instructions visited so far
	todo     []uint32 // instructions to visit
	accepted bool     // the program reached its end: there is a match
	asserts  bool     // the set contains an assertion, so the previous rune may matter
}

func newThreads(prog *syntax.Prog) *threads {
	n := (len(prog.Inst) + 63) / 64
	return &threads{prog: prog, set: make([]uint64, n), seen: make([]uint64, n)}
}

func (t *threads) clear() {
	clear(t.set)
	clear(t.seen)
	t.accepted, t.asserts = false, false
}

// add adds all instructions that are reachable from pc without consuming a rune. holds lists the assertions that hold
// among those decided. Undecided assertions are kept in the set.
func (t *threads) add(pc uint32, holds, decided syntax.EmptyOp) {
	t.push(pc)
	for len(t.todo) > 0 {
		pc = t.todo[len(t.todo)-1]
		t.todo = t.todo[:len(t.todo)-1]
		switch in := &t.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			t.accepted = true
		case syntax.InstAlt, syntax.InstAltMatch:
			t.push(in.Out)
			t.push(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			t.push(in.Out)
		case syntax.InstFail:
		case syntax.InstEmptyWidth:
			t.addAssertion(pc, holds, decided)
		default:
			t.keep(pc)
		}
	}
}

func (t *threads) addAssertion(pc uint32, holds, decided syntax.EmptyOp) {
	in := &t.prog.Inst[pc]
	switch op := syntax.EmptyOp(in.Arg); {
	case op&decided&^holds != 0:
	case op&^decided == 0:
		t.push(in.Out)
	default:
		t.asserts = true
		t.keep(pc)
	}
}

func (t *threads) keep(pc uint32) { t.set[pc/64] |= 1 << (pc % 64) }

// push schedules a visit of pc unless it was visited.
func (t *threads) push(pc uint32) {
	if bit := uint64(1) << (pc % 64); t.seen[pc/64]&bit == 0 {
		t.seen[pc/64] |= bit
		t.todo = append(t.todo, pc)
	}
}

// empty reports whether the threads cannot lead to a match.
func (t *threads) empty() bool {
	for _, word := range t.set {
		if word != 0 {
			return false
		}
	}
	return !t.accepted
}

// each calls use for each instruction in the set, in order.
func (t *threads) each(use func(pc uint32, in *syntax.Inst)) {
	for i, word := range t.set {
		for ; word != 0; word &= word - 1 {
			pc := uint32(i*64 + bits.TrailingZeros64(word))
			use(pc, &t.prog.Inst[pc])
		}
	}
}

// decide follows the assertions of the set that hold.
func (t *threads) decide(holds syntax.EmptyOp) {
	clear(t.seen)
	t.each(func(_ uint32, in *syntax.Inst) {
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^holds == 0 {
			t.add(in.Out, holds, ^syntax.EmptyOp(0))
		}
	})
}
