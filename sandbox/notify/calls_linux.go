package notify

import (
	"golang.org/x/sys/unix"

	"toolhost/sandbox/seccomp"
)

// call says where the names are in the arguments of a system call, and how it is done.
type call struct {
	name     string
	operands []operand
	act      func(*request) unix.Errno
	takes    func(*request) unix.Errno // reads further arguments from memory; nil: there are none
}

// operand is one name, or a descriptor in place of one. Its numbers are positions of arguments.
type operand struct {
	dir    int // the directory's descriptor; none: the working directory
	path   int // the name; none: dir is the operand itself
	flags  int // argument with the flags that follow depends on
	follow follow
}

const none = -1

// follow says whether a call goes through a link at the end of a name.
type follow int

const (
	never       follow = iota // names that are made or taken away
	unlessSlash               // the link itself, but for a slash behind it
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
