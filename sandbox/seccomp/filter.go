// Package seccomp holds the system call filters of a sandboxed command, and the assembler that turns them into the
// classic BPF which the kernel runs.
//
// A filter is data: a list of rules, each a call, conditions on its arguments and an action. Standard returns
// ours. The package makes no system call and compiles everywhere: the host assembles, the helper installs.
//
//	program, err := seccomp.Standard(seccomp.Options{Namespaces: true}).Assemble(runtime.GOARCH)
//
// A filter judges only numbers: it sees the six argument words, never the memory they point to. Calls that hide
// their flags in memory (clone3, openat2) therefore do not exist for a command, and libraries fall back to their elders.
package seccomp

// Action is the kernel's action for a call, as in the return value of a filter (seccomp(2)). The zero value is no
// action: a filter that holds one does not assemble.
type Action uint32

// Actions that let the call run, hand it to the supervisor that holds the listener, or end the whole process.
const (
	Allow       Action = 0x7fff_0000
	Notify      Action = 0x7fc0_0000
	KillProcess Action = 0x8000_0000
)

// Pass makes a call succeed that is not made.
const Pass = errno

// Actions from errno+1 to lastErrno are failures with that number.
const (
	errno     Action = 0x0005_0000
	lastErrno Action = errno | 4095
)

// Actions that make a call fail; the numbers are the same on all architectures known here.
const (
	EPERM           Action = errno | 1
	EACCES          Action = errno | 13
	ENOTTY          Action = errno | 25
	ENOSYS          Action = errno | 38
	EPROTONOSUPPORT Action = errno | 93
	EOPNOTSUPP      Action = errno | 95
	EAFNOSUPPORT    Action = errno | 97
)

// valid reports whether a is an action that this package makes.
func (a Action) valid() bool {
	return a == Allow || a == Notify || a == KillProcess || a >= errno && a <= lastErrno
}

// Rule gives the action for a call whose arguments meet all conditions; without conditions, for every such call.
type Rule struct {
	Call   string // its name in the manual, like "openat"; a call that an architecture lacks is passed over there
	Args   []Cond
	Action Action
}

// Cond compares one argument: it holds when the argument, reduced to the bits of Mask, equals Value, or, with Not, when
// it does not.
type Cond struct {
	Arg         int    // 0 to 5
	Mask, Value uint64 // a zero mask means all bits
	// Low32 leaves the upper half of the register out of account. It is a must for every argument that the kernel takes
	// as an int, because the upper half is then ignored there and may hold anything.
	Low32 bool
	Not   bool
	// Among is a list of values, any of which the lower half may have. It stands in the place of Mask, Value and Not, and needs Low32.
	Among []uint32
}

// bits returns the mask that is meant.
func (c Cond) bits() uint64 {
	all := ^uint64(0)
	if c.Low32 {
		all = 0xffff_ffff
	}
	if c.Mask == 0 {
		return all
	}
	return c.Mask
}

// Filter is an ordered list of rules. Of the rules for a call the first whose conditions hold decides; where none
// does, Default.
//
// Two things are decided before any rule: a call through another architecture's entry (32-bit programs) ends the
// process, and one newer than the tables of this package, or an x32 one, does not exist (ENOSYS).
type Filter struct {
	Rules   []Rule
	Default Action
}
