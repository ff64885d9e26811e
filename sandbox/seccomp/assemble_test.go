package seccomp

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAssembleRefuses(t *testing.T) {
	open := func(c Cond) Filter {
		return Filter{Rules: []Rule{{"openat", []Cond{c}, EPERM}}, Default: Allow}
	}
	huge := Filter{Default: Allow}
	for i := range 2000 {
		huge.Rules = append(huge.Rules, Rule{"openat", []Cond{{Arg: 1, Value: uint64(i)}}, EPERM})
	}
	tests := []struct {
		name   string
		filter Filter
		arch   string
		want   string
	}{
		{"an architecture without tables", Filter{Default: Allow}, "riscv64", "riscv64"},
		{"no default", Filter{}, "amd64", "no default action"},
		{"a default that is no action", Filter{Default: 5}, "amd64", "no default action"},
		{"a call without a name in the tables", Filter{Rules: []Rule{{"opne", nil, EPERM}}, Default: Allow}, "amd64", "opne"},
		{"a rule without an action", Filter{Rules: []Rule{{"openat", nil, 0}}, Default: Allow}, "arm64", "action"},
		{"error number -1", Filter{Rules: []Rule{{"openat", nil, errno - 1}}, Default: Allow}, "arm64", "action"},
		{"error number 4096", Filter{Rules: []Rule{{"openat", nil, errno | 4096}}, Default: Allow}, "arm64", "action"},
		{"argument 6", open(Cond{Arg: 6}), "amd64", "argument 6"},
		{"argument -1", open(Cond{Arg: -1}), "amd64", "argument -1"},
		{"a value outside the mask", open(Cond{Mask: 1, Value: 2}), "amd64", "outside its mask"},
		{"a value beyond 32 bits", open(Cond{Value: 1 << 32, Low32: true}), "amd64", "outside its mask"},
		{"a mask beyond 32 bits", open(Cond{Mask: 1 << 32, Low32: true}), "amd64", "exceeds 32 bits"},
		{"a list with a value", open(Cond{Value: 1, Low32: true, Among: []uint32{1}}), "amd64", "list"},
		{"a list of whole registers", open(Cond{Among: []uint32{1}}), "amd64", "list"},
		{"too long", huge, "amd64", "instructions"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			program, err := test.filter.Assemble(test.arch)
			if err == nil || !strings.Contains(err.Error(), test.want) || program != nil {
				t.Errorf("got %d bytes, error %v; want an error with %q", len(program), err, test.want)
			}
		})
	}
}

// A block of more than 255 instructions needs jumps that a conditional one cannot do, within a call and around it.
func TestAssembleJumpsFar(t *testing.T) {
	f := Filter{Default: Allow}
	for i := range 150 {
		low := Cond{Arg: 1, Value: uint64(i)<<32 | 7}
		f.Rules = append(f.Rules, Rule{"openat", []Cond{low, {Arg: 2, Value: 1 << 40, Not: true}}, errno | Action(i+1)})
	}
	long := Rule{Call: "ioctl", Action: EACCES}
	for range 120 {
		long.Args = append(long.Args, Cond{Arg: 1, Value: 5})
	}
	f.Rules = append(f.Rules, long, Rule{"ioctl", nil, EPERM}, Rule{"setns", nil, ENOSYS}, Rule{"bpf", nil, ENOSYS})
	for _, arch := range []string{"amd64", "arm64"} {
		program, err := f.Assemble(arch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(151) {
			for _, v := range []invocation{
				on(arch, "openat", 0, i<<32|7, 0), on(arch, "openat", 0, i<<32|7, 1<<40), on(arch, "openat", 0, i<<32),
			} {
				compare(t, f, arch, program, v)
			}
		}
		for _, v := range []invocation{
			on(arch, "ioctl", 0, 5), on(arch, "ioctl", 0, 6), on(arch, "setns"), on(arch, "bpf"), on(arch, "mount"),
		} {
			compare(t, f, arch, program, v)
		}
	}
}

func compare(t *testing.T, f Filter, arch string, program []byte, v invocation) {
	t.Helper()
	got, err := run(program, v)
	if want := f.meant(arch, v); err != nil || got != want {
		t.Errorf("%s, call %d %#x: got %#x, %v; want %#x", arch, v.number, v.args, uint32(got), err, uint32(want))
	}
}

// FuzzAssemble: a filter that assembles decides every call as its rules read.
func FuzzAssemble(f *testing.F) {
	for seed := range uint64(32) {
		f.Add(seed, 3*seed, uint32(seed), true)
	}
	f.Add(uint64(99), uint64(400), uint32(0), false)
	f.Fuzz(func(t *testing.T, seed, size uint64, number uint32, amd bool) {
		r := rand.New(rand.NewPCG(seed, size))
		arch := "arm64"
		if amd {
			arch = "amd64"
		}
		filter := randomFilter(r, int(size%400))
		program, err := filter.Assemble(arch)
		if err != nil {
			t.Skip(err) // too long: everything else about it is valid
		}
		for range 200 {
			v := randomInvocation(r, filter, arch)
			compare(t, filter, arch, program, v)
			v.number = number
			compare(t, filter, arch, program, v)
		}
	})
}

// word draws from a few values, so that random rules and random arguments meet.
func word(r *rand.Rand) uint64 {
	return []uint64{0, 1, 2, 3, 1 << 31, 1 << 32, 1<<32 | 1, 1 << 63, ^uint64(0), 0xffff_ffff, 0xffff_ffff << 32}[r.IntN(11)]
}

var fuzzCalls = []string{"openat", "ioctl", "open", "io_uring_setup", "file_setattr", "setxattr", "clone", "mkdir"}

// randomFilter has rules for few calls, so that many meet in one, or spread over the whole table.
func randomFilter(r *rand.Rand, size int) Filter {
	names := fuzzCalls
	if r.IntN(2) == 0 {
		names = slices.Sorted(maps.Keys(calls()))
	}
	actions := []Action{Allow, Notify, KillProcess, EPERM, ENOSYS, lastErrno}
	f := Filter{Default: actions[r.IntN(len(actions))]}
	for range size {
		rule := Rule{Call: names[r.IntN(len(names))], Action: actions[r.IntN(len(actions))]}
		for range r.IntN(4) {
			rule.Args = append(rule.Args, randomCond(r))
		}
		f.Rules = append(f.Rules, rule)
	}
	return f
}

func randomCond(r *rand.Rand) Cond {
	c := Cond{Arg: r.IntN(6), Mask: word(r), Value: word(r), Low32: r.IntN(2) == 0, Not: r.IntN(2) == 0}
	if c.Low32 {
		c.Mask = uint64(uint32(c.Mask))
	}
	c.Value &= c.bits()
	if r.IntN(4) == 0 {
		c = Cond{Arg: c.Arg, Low32: true, Among: []uint32{}}
		for range r.IntN(60) {
			c.Among = append(c.Among, uint32(word(r))+uint32(r.IntN(40)))
		}
	}
	return c
}

func randomInvocation(r *rand.Rand, f Filter, arch string) invocation {
	v := invocation{arch: architectures[arch].audit, number: uint32(r.IntN(newest + 3))}
	if len(f.Rules) > 0 {
		if number, ok := Number(arch, f.Rules[r.IntN(len(f.Rules))].Call); ok {
			v.number = uint32(number)
		}
	}
	for i := range v.args {
		v.args[i] = word(r)
	}
	return v
}
