package seccomp

import (
	"slices"
	"strings"
)

// Options say what else holds a command, so that its filter closes what is left open. The zero value is the strictest.
type Options struct {
	// Namespaces says that the command has process, IPC and network namespaces of its own. Without them other processes
	// of the same user can be named, so calls that reach them are closed, and so are the parts that Landlock does not cover: the
	// attributes of files, local sockets, System V IPC, and every way to the network but Network's.
	Namespaces bool
	// Shared says that the command shares its process namespace with other commands, which Landlock keeps from its memory and descriptors.
	// Without it the namespace is the command's and its helper's. With Namespaces, calls that act on a process by its number are handed to
	// the supervisor, if there is one, and else reach the command's own process alone; of signals that is so with Shared.
	Shared bool
	// Observes says that the command sees the network of others, to list its sockets, and may use none of it.
	Observes bool
	// Mute says that nothing else keeps the command from signalling others: it signals nobody, itself included.
	Mute bool
	// Network is the permitted network if Namespaces is false. With a namespace of its own, that is the wall.
	Network Network
	// Writable says that the command may write somewhere. Where Namespaces is false, attributes of files are else fixed.
	Writable bool
	// Notify hands calls that may write, by name, and those that change attributes to the supervisor of the listener; with Namespaces every
	// connect, too. The filter must then be installed with SECCOMP_FILTER_FLAG_NEW_LISTENER.
	Notify bool
	// Starts hands calls that start a program to the supervisor of the listener.
	Starts bool
}

// Network is the network that a command without a network namespace may use.
type Network int

// No internet sockets at all; or TCP, whose connections Landlock holds to the proxy's port.
const (
	NoNetwork Network = iota
	ProxyOnly
)

// Standard returns the filter of a sandboxed command. A call without a rule is allowed: it needs a capability that the
// command does not have, or is bounded by mounts, Landlock and namespaces.
func Standard(o Options) Filter {
	rules := slices.Concat(missing(), privileged(), newNamespaces(), controls(), specialFiles(), leases(), o.locks(), personalities())
	switch {
	case o.Namespaces && o.Observes:
		rules = slices.Concat(rules, o.listing())
	case o.Namespaces:
		rules = append(rules, o.internet()...)
	default:
		rules = slices.Concat(rules, processes(), messages(), o.hostNetwork(), o.attributes())
	}
	if o.Mute {
		rules = append(rules, signals()...)
	}
	if o.Namespaces {
		rules = append(rules, o.others()...)
	}
	if o.Notify {
		rules = append(rules, writes()...)
	}
	if o.Notify && o.Namespaces {
		rules = slices.Concat(rules, always(Notify, attributeCalls), always(ENOSYS, newAttributeCalls))
	}
	if o.Starts {
		rules = append(rules, always(Notify, "execve execveat")...)
	}
	return Filter{Rules: rules, Default: Allow}
}

// always gives the same action to each of the calls, whatever their arguments.
func always(action Action, names string) []Rule {
	var rules []Rule
	for name := range strings.FieldsSeq(names) {
		rules = append(rules, Rule{Call: name, Action: action})
	}
	return rules
}

// is, isNot and anyOf are conditions on an argument that the kernel takes as an int.
func is(arg int, value uint32) Cond { return Cond{Arg: arg, Value: uint64(value), Low32: true} }
func isNot(arg int, value uint32) Cond {
	return Cond{Arg: arg, Value: uint64(value), Low32: true, Not: true}
}
func anyOf(arg int, bits uint32) Cond {
	return Cond{Arg: arg, Mask: uint64(bits), Low32: true, Not: true}
}

// bitsAre compares only the bits of mask.
func bitsAre(arg int, mask, value uint32) Cond {
	return Cond{Arg: arg, Mask: uint64(mask), Value: uint64(value), Low32: true}
}

// missing are calls that do the work of others out of the filter's sight: from a ring in memory, or with flags in
// memory. "No such call" makes libraries take the older one.
func missing() []Rule {
	return always(ENOSYS, "io_uring_setup io_uring_enter io_uring_register clone3 openat2")
}

// privileged are calls that work in a workspace does not need. Most also want a capability; the filter holds when
// the kernel forgets to ask, and keeps the code behind them out of reach.
func privileged() []Rule {
	return always(EPERM, `
		setns mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick
		mount_setattr open_by_handle_at file_setattr quotactl quotactl_fd swapon swapoff acct
		keyctl add_key request_key bpf perf_event_open userfaultfd pidfd_getfd
		init_module finit_module delete_module create_module kexec_load kexec_file_load reboot syslog
		settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname iopl ioperm vhangup
		nfsservctl lookup_dcookie uselib`)
}

// Flags of clone(2) and unshare(2).
const (
	cloneNewTime   = 0x80 // unshare only: in clone these bits are the exit signal
	cloneParent    = 0x8000
	cloneNewNS     = 0x20000
	cloneNewCgroup = 0x2000000
	cloneNewUTS    = 0x4000000
	cloneNewIPC    = 0x8000000
	cloneNewUser   = 0x10000000
	cloneNewPID    = 0x20000000
	cloneNewNet    = 0x40000000
	cloneNew       = cloneNewNS | cloneNewCgroup | cloneNewUTS | cloneNewIPC | cloneNewUser | cloneNewPID | cloneNewNet
)

// newNamespaces: a user namespace gives a process all capabilities inside it, and with them most of the kernel's bugs.
// CLONE_PARENT would make the child one of the command's parent, which does not know that it must reap it.
func newNamespaces() []Rule {
	return []Rule{
		{"clone", []Cond{anyOf(0, cloneNew|cloneParent)}, EPERM},
		{"unshare", []Cond{anyOf(0, cloneNew|cloneNewTime)}, EPERM},
	}
}

// Bits of a file's mode, and of open(2) where they say that a mode is given.
const (
	modeType   = 0o170000
	modeChar   = 0o020000
	modeBlock  = 0o060000
	modeSetUID = 0o4000

	openCreate = 0o100
	openTemp   = 0o20000000
)

// specialFiles refuses devices and set-user-id files. A set-user-id file in a workspace would let any other user of the
// machine run the command's program as the person. Set-group-id stays: on directories it is everyday work, and file
// and directory look alike here.
func specialFiles() []Rule {
	return []Rule{
		{"mknod", []Cond{bitsAre(1, modeType, modeChar)}, EPERM},
		{"mknod", []Cond{bitsAre(1, modeType, modeBlock)}, EPERM},
		{"mknodat", []Cond{bitsAre(2, modeType, modeChar)}, EPERM},
		{"mknodat", []Cond{bitsAre(2, modeType, modeBlock)}, EPERM},

		{"mknod", []Cond{anyOf(1, modeSetUID)}, EPERM},
		{"mknodat", []Cond{anyOf(2, modeSetUID)}, EPERM},
		{"chmod", []Cond{anyOf(1, modeSetUID)}, EPERM},
		{"fchmod", []Cond{anyOf(1, modeSetUID)}, EPERM},
		{"fchmodat", []Cond{anyOf(2, modeSetUID)}, EPERM},
		{"fchmodat2", []Cond{anyOf(2, modeSetUID)}, EPERM},
		{"creat", []Cond{anyOf(1, modeSetUID)}, EPERM},
		{"open", []Cond{anyOf(1, openCreate|openTemp), anyOf(2, modeSetUID)}, EPERM},
		{"openat", []Cond{anyOf(2, openCreate|openTemp), anyOf(3, modeSetUID)}, EPERM},
	}
}

// leases: the holder of one makes every other process that opens the file wait, the user's programs among them.
func leases() []Rule {
	const setLease = 1024
	return []Rule{{"fcntl", []Cond{is(1, setLease)}, EPERM}}
}

// locks: whoever has one makes others wait, the user's programs among them, and may have it on any file that it can read. What writes nothing needs none
// and gets none; what is watched gets those on files that it may write. Asking for the owner of one is free.
func (o Options) locks() []Rule {
	action := Notify
	switch {
	case !o.Notify && !o.Writable:
		action = Pass
	case !o.Notify:
		return nil
	}
	rules := always(action, "flock")
	for _, command := range []uint32{6, 7, 37, 38} { // F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
		rules = append(rules, Rule{"fcntl", []Cond{is(1, command)}, action})
	}
	return rules
}

// personalities allows those of debuggers (no address randomisation) and of builds for 32 bits (uname), and the query.
func personalities() []Rule {
	var rules []Rule
	for _, persona := range []uint32{0, 0x0008, 0x20000, 0x20008, 0x40000, 0xffff_ffff} {
		rules = append(rules, Rule{"personality", []Cond{is(0, persona)}, Allow})
	}
	return append(rules, Rule{"personality", nil, EPERM})
}
