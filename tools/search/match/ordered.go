package match

import "regexp/syntax"

// thread is an instruction that takes a rune or accepts, and where the match begins that came to it.
type thread struct {
	pc    uint32
	begin int
}

// ordered are the threads at one position, the preferred ones first.
type ordered struct {
	prog    *syntax.Prog
	threads []thread
	seen    []uint32 // for each instruction the round in which it was visited
	round   uint32
	todo    []uint32 // instructions to be visited
	steps   int      // visits since clear
}

func newOrdered(prog *syntax.Prog) ordered {
	return ordered{prog: prog, seen: make([]uint32, len(prog.Inst)), round: 1}
}

func (o *ordered) clear() {
	o.threads, o.steps = o.threads[:0], 0
	if o.round++; o.round == 0 {
		clear(o.seen)
		o.round = 1
	}
}

// add adds all that is reached from instruction pc without a rune, behind what is there, where these assertions hold.
func (o *ordered) add(pc uint32, begin int, holds syntax.EmptyOp) {
	o.todo = append(o.todo[:0], pc)
	for len(o.todo) > 0 {
		pc = o.todo[len(o.todo)-1]
		o.todo = o.todo[:len(o.todo)-1]
		o.steps++
		if o.seen[pc] == o.round {
			continue
		}
		o.seen[pc] = o.round
		switch in := &o.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			o.todo = append(o.todo, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			o.todo = append(o.todo, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				o.todo = append(o.todo, in.Out)
			}
		case syntax.InstFail:
		default:
			o.threads = append(o.threads, thread{pc, begin})
		}
	}
}
