package notify

import (
	"golang.org/x/sys/unix"
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

func (c call) setsTimes() bool { return c.name == "utimensat" || c.name == "futimesat" }
