package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// instruction is struct sock_filter of the kernel's <linux/filter.h>.
type instruction struct {
	op     uint16
	jt, jf uint8 // instructions to skip when a test holds, and when it does not
	k      uint32
}

// code is a piece of program. All jumps of BPF go forward, so code is put together from its end: the code that a jump
// skips exists already, and its length is known.
type code []instruction

// The instructions in use, from <linux/bpf_common.h>.
const (
	opLoad    = 0x20 // A = word of the call at offset k
	opAnd     = 0x54 // A &= k
	opJump    = 0x05 // skip k
	opEqual   = 0x15 // A == k
	opAtLeast = 0x35 // A >= k
	opReturn  = 0x06
)

// Offsets in struct seccomp_data.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

const (
	instructionSize = 8
	maxInstructions = 4096 // BPF_MAXINSNS
	maxSkip         = 255  // of a conditional jump; an unconditional one has 32 bits
)

// Assemble compiles f for an architecture, "amd64" or "arm64", into an array of struct sock_filter, little endian, as
// SECCOMP_SET_MODE_FILTER takes it. It fails on an unknown architecture or call, on a rule that says nothing or that
// can never match, and when the program exceeds the kernel's 4096 instructions.
func (f Filter) Assemble(arch string) ([]byte, error) {
	a, err := architectureOf(arch)
	if err != nil {
		return nil, err
	}
	rules, err := f.byNumber(a)
	if err != nil {
		return nil, err
	}
	program := f.guarded(a, f.dispatch(rules))
	if len(program) > maxInstructions {
		return nil, fmt.Errorf("seccomp filter: %d instructions, the kernel takes %d", len(program), maxInstructions)
	}
	out := make([]byte, 0, len(program)*instructionSize)
	for _, i := range program {
		out = binary.LittleEndian.AppendUint16(out, i.op)
		out = append(out, i.jt, i.jf)
		out = binary.LittleEndian.AppendUint32(out, i.k)
	}
	return out, nil
}

// callRules are the rules of one call, in their order.
type callRules struct {
	number uint32
	rules  []Rule
}

// byNumber checks f and returns its rules by ascending call number.
func (f Filter) byNumber(a architecture) ([]callRules, error) {
	if !f.Default.valid() {
		return nil, errors.New("seccomp filter: no default action")
	}
	byNumber := map[uint32][]Rule{}
	for i, r := range f.Rules {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("seccomp filter: rule %d, %s: %w", i, r.Call, err)
		}
		if number := calls()[r.Call][a.column]; number != absent {
			byNumber[uint32(number)] = append(byNumber[uint32(number)], r)
		}
	}
	var out []callRules
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		out = append(out, callRules{number, byNumber[number]})
	}
	return out, nil
}

func (r Rule) check() error {
	if _, ok := calls()[r.Call]; !ok {
		return errors.New("unknown call")
	}
	if !r.Action.valid() {
		return fmt.Errorf("unknown action %#x", uint32(r.Action))
	}
	for _, c := range r.Args {
		switch {
		case c.Arg < 0 || c.Arg > 5:
			return fmt.Errorf("no argument %d", c.Arg)
		case c.Among != nil && (!c.Low32 || c.Not || c.Mask != 0 || c.Value != 0):
			return fmt.Errorf("a list for argument %d has a mask, a value or an upper half", c.Arg)
		case c.Low32 && c.Mask > 0xffff_ffff:
			return fmt.Errorf("mask %#x of argument %d exceeds 32 bits", c.Mask, c.Arg)
		case c.Value&^c.bits() != 0:
			return fmt.Errorf("value %#x of argument %d lies outside its mask", c.Value, c.Arg)
		}
	}
	return nil
}

// guarded puts before body the tests that hold for every call, and leaves the call's number in the accumulator.
//
// The x32 calls of amd64 are the numbers from 0x40000000, hence newer than any table.
func (f Filter) guarded(a architecture, body code) code {
	return slices.Concat(
		code{{op: opLoad, k: offsetArch}, {op: opEqual, jt: 1, k: a.audit}, finish(KillProcess)},
		code{{op: opLoad, k: offsetCall}, {op: opAtLeast, jf: 1, k: newest + 1}, finish(ENOSYS)},
		body,
	)
}

// leaf is how many calls are compared one after the other once halving has got so far. It trades instructions, which
// cost time when the filter is installed, for steps, which calls that are always allowed do not take: the kernel keeps
// a map of those.
const leaf = 16

// dispatch finds the call in the accumulator, by halving first. Every piece it joins ends in returns only, so none runs
// on into its neighbour.
func (f Filter) dispatch(all []callRules) code {
	if len(all) > leaf {
		middle := len(all) / 2
		low, high := f.dispatch(all[:middle]), f.dispatch(all[middle:])
		return slices.Concat(test(opAtLeast, all[middle].number, len(low), 0), low, high)
	}
	out := code{finish(f.Default)}
	for _, c := range slices.Backward(all) {
		out = slices.Concat(f.match(c, out), out)
	}
	return out
}

// match decides the call c, and runs on into rest for any other. One that has a single outcome borrows the return of
// another that follows, when there is one in reach.
func (f Filter) match(c callRules, rest code) code {
	if first := c.rules[0]; len(first.Args) == 0 {
		if at := slices.Index(rest, finish(first.Action)); at >= 0 && at <= maxSkip {
			return test(opEqual, c.number, at, 0)
		}
	}
	body := f.decide(c.rules)
	return append(test(opEqual, c.number, 0, len(body)), body...)
}

// decide tries the rules of one call in their order. Rules after one without conditions are never reached.
func (f Filter) decide(rules []Rule) code {
	out := code{finish(f.Default)}
	for _, r := range slices.Backward(rules) {
		if len(r.Args) == 0 {
			out = nil
		}
		out = slices.Concat(r.code(), out)
	}
	return out
}

// code returns the action of r when its conditions hold, and else runs on behind its end.
func (r Rule) code() code {
	out := code{finish(r.Action)}
	for _, c := range slices.Backward(r.Args) {
		out = slices.Concat(c.code(len(out)), out)
	}
	return out
}

// code runs on behind its end when c holds, and else skips miss instructions there. The machine has 32 bits, so each
// half is compared alone: equality needs both, inequality either.
func (c Cond) code(miss int) code {
	if c.Among != nil {
		values := slices.Compact(slices.Sorted(slices.Values(c.Among)))
		return append(code{{op: opLoad, k: uint32(offsetArgs + 8*c.Arg)}}, among(values, 0, miss)...)
	}
	at, mask := uint32(offsetArgs+8*c.Arg), c.bits()
	low := half{at, uint32(mask), uint32(c.Value)}
	high := half{at + 4, uint32(mask >> 32), uint32(c.Value >> 32)}
	switch {
	case high.mask == 0 && c.Not:
		return low.code(miss, 0)
	case high.mask == 0:
		return low.code(0, miss)
	case c.Not:
		last := high.code(miss, 0)
		return append(low.code(0, len(last)), last...)
	default:
		last := high.code(0, miss)
		return append(low.code(0, len(last)+miss), last...)
	}
}

// among finds the accumulator in a sorted list, by halving first. It skips rest instructions behind its end when it is there, else miss more.
func among(values []uint32, rest, miss int) code {
	if len(values) > leaf {
		middle := len(values) / 2
		high := among(values[middle:], rest, miss)
		low := among(values[:middle], len(high)+rest, miss)
		return slices.Concat(test(opAtLeast, values[middle], len(low), 0), low, high)
	}
	out := code{{op: opJump, k: uint32(rest + miss)}}
	for _, v := range slices.Backward(values) {
		out = append(test(opEqual, v, len(out)+rest, 0), out...)
	}
	return out
}

// half is one 32-bit word of an argument, and the value that its masked bits are compared with.
type half struct{ at, mask, value uint32 }

// code skips equal instructions behind its end when the bits are as given, else other.
func (h half) code(equal, other int) code {
	out := code{{op: opLoad, k: h.at}}
	if h.mask != 0xffff_ffff {
		out = append(out, instruction{op: opAnd, k: h.mask})
	}
	return append(out, test(opEqual, h.value, equal, other)...)
}

// test compares the accumulator with k and skips yes or no instructions behind its end. A distance that the eight bits
// of a conditional jump cannot hold goes over an unconditional one.
func test(op uint16, k uint32, yes, no int) code {
	if yes <= maxSkip && no <= maxSkip {
		return code{{op: op, jt: uint8(yes), jf: uint8(no), k: k}}
	}
	return code{{op: op, jf: 1, k: k}, {op: opJump, k: uint32(yes + 1)}, {op: opJump, k: uint32(no)}}
}

func finish(a Action) instruction { return instruction{op: opReturn, k: uint32(a)} }
