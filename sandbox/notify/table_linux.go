package notify

import "toolhost/sandbox/seccomp"

// callTable has every call that a filter of ours hands over, but connect.
func callTable() []call {
	return []call{
		{"open", []operand{name(0, unlessOpenFlags).with(1)}, actOpen, takeOpen(1)},
		{"openat", []operand{nameAt(0, unlessOpenFlags).with(2)}, actOpen, takeOpen(2)},
		{"creat", []operand{name(0, always)}, actOpen, takeCreat},
		{"mkdir", []operand{name(0, never)}, actMkdir(1), nil},
		{"mkdirat", []operand{nameAt(0, never)}, actMkdir(2), nil},
		{"mknod", []operand{name(0, never)}, actMknod(1), nil},
		{"mknodat", []operand{nameAt(0, never)}, actMknod(2), nil},
		{"rename", []operand{name(0, never), name(1, never)}, actRename(none), nil},
		{"renameat", []operand{nameAt(0, never), nameAt(2, never)}, actRename(none), nil},
		{"renameat2", []operand{nameAt(0, never), nameAt(2, never)}, actRename(4), nil},
		{"link", []operand{name(0, unlessSlash), name(1, never)}, actLink, nil},
		{"linkat", []operand{nameAt(0, ifFollow).with(4), nameAt(2, never)}, actLink, nil},
		{"symlink", []operand{name(1, never)}, actSymlink, takeText(0)},
		{"symlinkat", []operand{nameAt(1, never)}, actSymlink, takeText(0)},
		{"unlink", []operand{name(0, never)}, actUnlink(none), nil},
		{"unlinkat", []operand{nameAt(0, never)}, actUnlink(2), nil},
		{"rmdir", []operand{name(0, never)}, actRmdir, nil},
		{"truncate", []operand{name(0, always)}, actTruncate, nil},
		{"bind", nil, actBind, takeBind},

		{"chmod", []operand{name(0, always)}, actChmod(1), nil},
		{"fchmod", []operand{descriptor(0)}, actChmod(1), nil},
		{"fchmodat", []operand{nameAt(0, always)}, actChmod(2), nil},
		{"fchmodat2", []operand{nameAt(0, unlessNoFollow).with(3)}, actChmod(2), nil},
		{"chown", []operand{name(0, always)}, actChown(1), nil},
		{"lchown", []operand{name(0, unlessSlash)}, actChown(1), nil},
		{"fchown", []operand{descriptor(0)}, actChown(1), nil},
		{"fchownat", []operand{nameAt(0, unlessNoFollow).with(4)}, actChown(2), nil},
		{"utime", []operand{name(0, always)}, actTimes, takeTimes(1, seconds)},
		{"utimes", []operand{name(0, always)}, actTimes, takeTimes(1, microseconds)},
		{"futimesat", []operand{nameAt(0, always)}, actTimes, takeTimes(2, microseconds)},
		{"utimensat", []operand{nameAt(0, unlessNoFollow).with(3)}, actTimes, takeTimes(2, nanoseconds)},
		{"setxattr", []operand{name(0, always)}, actSetAttribute, takeAttribute},
		{"lsetxattr", []operand{name(0, unlessSlash)}, actSetAttribute, takeAttribute},
		{"fsetxattr", []operand{descriptor(0)}, actSetAttribute, takeAttribute},
		{"removexattr", []operand{name(0, always)}, actRemoveAttribute, takeAttributeName},
		{"lremovexattr", []operand{name(0, unlessSlash)}, actRemoveAttribute, takeAttributeName},
		{"fremovexattr", []operand{descriptor(0)}, actRemoveAttribute, takeAttributeName},
	}
}

// callsOf returns the table by the call numbers of an architecture.
func callsOf(arch string) map[int32]call {
	byNumber := map[int32]call{}
	for _, c := range callTable() {
		if number, ok := seccomp.Number(arch, c.name); ok {
			byNumber[int32(number)] = c
		}
	}
	return byNumber
}

// directed says where a call has the number of the process that it acts on.
type directed struct {
	name   string
	target int
}

// directedCalls returns the calls that act on a process by its number, by their own numbers on an architecture.
func directedCalls(arch string) map[int32]directed {
	byNumber := map[int32]directed{}
	for _, c := range []directed{
		{"kill", 0}, {"prlimit64", 0}, {"sched_setscheduler", 0}, {"sched_setparam", 0}, {"sched_setattr", 0}, {"sched_setaffinity", 0},
		{"setpriority", 1}, {"ioprio_set", 1},
	} {
		if number, ok := seccomp.Number(arch, c.name); ok {
			byNumber[int32(number)] = c
		}
	}
	return byNumber
}
