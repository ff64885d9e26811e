package seccomp

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// invocation is what a filter sees of a call, as struct seccomp_data.
type invocation struct {
	arch   uint32
	number uint32
	args   [6]uint64
}

// on returns the invocation of a call by name.
func on(arch, call string, args ...uint64) invocation {
	number, ok := Number(arch, call)
	if !ok {
		panic("no call " + call + " on " + arch)
	}
	v := invocation{arch: architectures[arch].audit, number: uint32(number)}
	copy(v.args[:], args)
	return v
}

func (v invocation) bytes() []byte {
	out := binary.LittleEndian.AppendUint32(nil, v.number)
	out = binary.LittleEndian.AppendUint32(out, v.arch)
	out = binary.LittleEndian.AppendUint64(out, 0) // instruction pointer
	for _, arg := range v.args {
		out = binary.LittleEndian.AppendUint64(out, arg)
	}
	return out
}

// run is the kernel's machine for the instructions that this package emits: everything else, a load outside the data
// and running off the end are errors, as they are for the kernel's checker.
func run(program []byte, v invocation) (Action, error) {
	data := v.bytes()
	var a uint32
	for pc := 0; pc >= 0 && (pc+1)*instructionSize <= len(program); pc++ {
		raw := program[pc*instructionSize:]
		op, jt, jf, k := binary.LittleEndian.Uint16(raw), int(raw[2]), int(raw[3]), binary.LittleEndian.Uint32(raw[4:])
		skip := func(holds bool) int {
			if holds {
				return jt
			}
			return jf
		}
		switch op {
		case 0x20:
			if k%4 != 0 || int(k)+4 > len(data) {
				return 0, fmt.Errorf("load at %d", k)
			}
			a = binary.LittleEndian.Uint32(data[k:])
		case 0x54:
			a &= k
		case 0x05:
			pc += int(k)
		case 0x15:
			pc += skip(a == k)
		case 0x35:
			pc += skip(a >= k)
		case 0x06:
			return Action(k), nil
		default:
			return 0, fmt.Errorf("instruction %#x at %d", op, pc)
		}
	}
	return 0, fmt.Errorf("ran off the end")
}

// meant evaluates the rules as they are written, without BPF.
func (f Filter) meant(arch string, v invocation) Action {
	switch {
	case v.arch != architectures[arch].audit:
		return KillProcess
	case v.number > newest:
		return ENOSYS
	}
	for _, r := range f.Rules {
		if number, ok := Number(arch, r.Call); ok && uint32(number) == v.number && r.holds(v) {
			return r.Action
		}
	}
	return f.Default
}

func (r Rule) holds(v invocation) bool {
	for _, c := range r.Args {
		arg := v.args[c.Arg]
		if c.Among != nil {
			if !slices.Contains(c.Among, uint32(arg)) {
				return false
			}
			continue
		}
		if c.Low32 {
			arg = uint64(uint32(arg))
		}
		mask := c.Mask
		if mask == 0 {
			mask = ^uint64(0)
		}
		if (arg&mask == c.Value) == c.Not {
			return false
		}
	}
	return true
}
