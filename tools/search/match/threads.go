package match

import (
	"math/bits"
	"regexp/syntax"
)

const (
	opsBegin = syntax.EmptyBeginLine | syntax.EmptyBeginText
	opsEnd   = syntax.EmptyEndLine | syntax.EmptyEndText
)

// before is what comes before a position, as far as assertions look back.
type before uint8

const (
	beforeOther before = iota
	beforeWord         // a word character
	beforeText         // nothing: the text begins
	beforeLine         // \n, with Multiline
)

// endOfText stands for the rune after a text.
const endOfText = -1

// holding returns the assertions that hold after prev, whatever follows.
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

// threads is a set of instructions of a program at one position: those that take a rune, and assertions about what
// follows.
type threads struct {
	prog     *syntax.Prog
	set      []uint64 // one bit for each instruction
	seen     []uint64 // instructions visited on the way
	todo     []uint32 // and those to be visited
	accepted bool     // the program has come to its end: there is a match
	asserts  bool     // an assertion is in the set: what came before may count
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

// add adds all that is reached from instruction pc without a rune. Of the assertions decided, those in holds hold.
// An assertion about others is kept.
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

// push has pc visited unless it was.
func (t *threads) push(pc uint32) {
	if bit := uint64(1) << (pc % 64); t.seen[pc/64]&bit == 0 {
		t.seen[pc/64] |= bit
		t.todo = append(t.todo, pc)
	}
}

// empty reports whether nothing more can come of the threads.
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
