package match

import "regexp/syntax"

// thread is an instruction that consumes a rune or accepts, with the beginning of its match.
type thread struct {
	pc    uint32
	begin int
}

// threadList holds the threads at one position by priority.
type threadList struct {
	prog    *syntax.Prog
	threads []thread
	seen    []uint32 // for each instruction, the round of its last visit
	round   uint32
	todo    []uint32 // instructions to visit
	steps   int      // visits since clear
}

func newOrdered(prog *syntax.Prog) threadList {
	return threadList{prog: prog, seen: make([]uint32, len(prog.Inst)), round: 1}
}

func (o *threadList) clear() {
	o.threads, o.steps = o.threads[:0], 0
	if o.round++; o.round == 0 {
		clear(o.seen)
		o.round = 1
	}
}

// add appends all instructions that are reachable from pc without consuming a rune, if these assertions hold.
func (o *threadList) add(pc uint32, begin int, holds syntax.EmptyOp) {
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
