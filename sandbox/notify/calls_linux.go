package notify

import (
	"golang.org/x/sys/unix"

	"toolhost/sandbox/seccomp"
)

// call says where the names are in the arguments of a system call.
type call struct {
	name     string
	operands []operand
}

// operand is one name, or a descriptor in place of one. Its numbers are positions of arguments.
type operand struct {
	dir    int // the directory's descriptor; none: the working directory
	path   int // the name; none: dir is the operand itself
	flags  int // what follow depends on
	follow follow
}

const none = -1

// follow says whether a call goes through a link at the end of a name.
type follow int

const (
	never follow = iota
	always
	unlessOpenFlags // O_NOFOLLOW, or O_CREAT with O_EXCL
	unlessNoFollow  // AT_SYMLINK_NOFOLLOW
	ifFollow        // AT_SYMLINK_FOLLOW
)

func name(at int, f follow) operand { return operand{dir: none, path: at, flags: none, follow: f} }
func nameAt(dir int, f follow) operand {
	return operand{dir: dir, path: dir + 1, flags: none, follow: f}
}
func descriptor(at int) operand { return operand{dir: at, path: none, flags: none} }

func (o operand) with(flags int) operand {
	o.flags = flags
	return o
}

// callTable has every call that a filter of ours hands over.
func callTable() []call {
	return []call{
		{"open", []operand{name(0, unlessOpenFlags).with(1)}},
		{"openat", []operand{nameAt(0, unlessOpenFlags).with(2)}},
		{"creat", []operand{name(0, always)}},
		{"mkdir", []operand{name(0, never)}},
		{"mkdirat", []operand{nameAt(0, never)}},
		{"mknod", []operand{name(0, never)}},
		{"mknodat", []operand{nameAt(0, never)}},
		{"rename", []operand{name(0, never), name(1, never)}},
		{"renameat", []operand{nameAt(0, never), nameAt(2, never)}},
		{"renameat2", []operand{nameAt(0, never), nameAt(2, never)}},
		{"link", []operand{name(0, never), name(1, never)}},
		{"linkat", []operand{nameAt(0, ifFollow).with(4), nameAt(2, never)}},
		{"symlink", []operand{name(1, never)}},
		{"symlinkat", []operand{nameAt(1, never)}},
		{"unlink", []operand{name(0, never)}},
		{"unlinkat", []operand{nameAt(0, never)}},
		{"rmdir", []operand{name(0, never)}},
		{"truncate", []operand{name(0, always)}},

		{"chmod", []operand{name(0, always)}},
		{"fchmod", []operand{descriptor(0)}},
		{"fchmodat", []operand{nameAt(0, always)}},
		{"fchmodat2", []operand{nameAt(0, unlessNoFollow).with(3)}},
		{"chown", []operand{name(0, always)}},
		{"lchown", []operand{name(0, never)}},
		{"fchown", []operand{descriptor(0)}},
		{"fchownat", []operand{nameAt(0, unlessNoFollow).with(4)}},
		{"utime", []operand{name(0, always)}},
		{"utimes", []operand{name(0, always)}},
		{"futimesat", []operand{nameAt(0, always)}},
		{"utimensat", []operand{nameAt(0, unlessNoFollow).with(3)}},
		{"setxattr", []operand{name(0, always)}},
		{"lsetxattr", []operand{name(0, never)}},
		{"fsetxattr", []operand{descriptor(0)}},
		{"setxattrat", []operand{nameAt(0, unlessNoFollow).with(2)}},
		{"removexattr", []operand{name(0, always)}},
		{"lremovexattr", []operand{name(0, never)}},
		{"fremovexattr", []operand{descriptor(0)}},
		{"removexattrat", []operand{nameAt(0, unlessNoFollow).with(2)}},
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

// follows reports whether the call goes through a link at the end of o.
func (o operand) follows(args *[6]uint64) bool {
	switch o.follow {
	case always:
		return true
	case unlessOpenFlags:
		flags := args[o.flags]
		return flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL
	case unlessNoFollow:
		return args[o.flags]&unix.AT_SYMLINK_NOFOLLOW == 0
	case ifFollow:
		return args[o.flags]&unix.AT_SYMLINK_FOLLOW != 0
	default:
		return false
	}
}

// mayBeEmpty reports whether an empty or missing name means the descriptor itself.
func (o operand) mayBeEmpty(args *[6]uint64) bool {
	return o.flags != none && o.follow != unlessOpenFlags && args[o.flags]&unix.AT_EMPTY_PATH != 0
}
