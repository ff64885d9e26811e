package seccomp

import "slices"

// A command without namespaces of its own shares its view of processes and IPC with all other processes of its user, and
// Landlock covers neither. This file closes these ways.

// Values of setpriority(2), ioprio_set(2) and prctl(2).
const (
	prioProcess   = 0 // or thread
	prioUser      = 2
	ioprioProcess = 1
	ioprioUser    = 3
	prSetDumping  = 4
)

// Requests of ptrace(2).
const (
	traceMe = 0
	detach  = 17
)

// processes keeps a command off the processes beside it. Signals are not here: Landlock's scope holds them, and a filter
// could not tell a child from a stranger.
func processes() []Rule {
	rules := slices.Concat(
		// With these a child lets its parent stop it until it may begin; no process gets at one that does not ask for it.
		[]Rule{{"ptrace", []Cond{{Arg: 0, Value: traceMe}}, Allow}, {"ptrace", []Cond{{Arg: 0, Value: detach}}, Allow}},
		always(EPERM, "ptrace process_vm_readv process_vm_writev process_madvise kcmp"),
		// Without it programs go by number, as they do on older kernels.
		always(ENOSYS, "pidfd_open"),
		[]Rule{
			{"setpriority", []Cond{is(0, prioUser)}, EPERM},
			{"setpriority", []Cond{isNot(1, 0)}, EPERM},
			{"ioprio_set", []Cond{is(0, ioprioUser)}, EPERM},
			{"ioprio_set", []Cond{isNot(1, 0)}, EPERM},
		})
	for _, name := range []string{
		"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity", "migrate_pages",
		"move_pages",
	} {
		rules = append(rules, Rule{name, []Cond{isNot(0, 0)}, EPERM})
	}
	return rules
}

// others are the rules for calls that reach a process which the caller names, in a namespace that has others: the commands that share it, or the
// helper, whose limits the kernel lets any process of its user lower. No access to memory is here: Landlock holds that, and the helper does. Signals between commands go through kill(2) alone, which the supervisor sends; the other calls that
// signal reach, by Landlock's scope, the command's own processes. The owner of a descriptor's signals is a process by number, too.
func (o Options) others() []Rule {
	action := EPERM
	var rules []Rule
	if o.Notify {
		action = Notify
	}
	switch {
	case o.Shared && o.Notify:
		rules = append(rules, Rule{"kill", nil, Notify})
	case o.Shared:
		rules = always(ENOSYS, "pidfd_open")
	}
	for _, name := range []string{"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"} {
		rules = append(rules, Rule{name, []Cond{isNot(0, 0)}, action})
	}
	return append(rules,
		Rule{"setpriority", []Cond{is(0, prioUser)}, EPERM},
		Rule{"setpriority", []Cond{isNot(0, prioProcess), isNot(1, 0)}, EPERM}, // a group
		Rule{"setpriority", []Cond{isNot(1, 0)}, action},
		Rule{"ioprio_set", []Cond{is(0, ioprioUser)}, EPERM},
		Rule{"ioprio_set", []Cond{isNot(0, ioprioProcess), isNot(1, 0)}, EPERM},
		Rule{"ioprio_set", []Cond{isNot(1, 0)}, action})
}

// signals closes every way to signal a process.
func signals() []Rule {
	const setOwner, setOwnerEx = 8, 15
	return append(always(EPERM, "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"),
		Rule{"fcntl", []Cond{is(1, setOwner)}, EPERM}, Rule{"fcntl", []Cond{is(1, setOwnerEx)}, EPERM})
}

// messages closes System V IPC and POSIX message queues.
func messages() []Rule {
	return always(EPERM, `shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
		mq_open mq_unlink`)
}

// attributeCalls change what is known about a file and not its content.
const attributeCalls = `chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat
	setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr`

// newAttributeCalls take their arguments in a structure that may grow, which the filter cannot judge. They are refused with ENOSYS, and
// programs use the older calls.
const newAttributeCalls = "setxattrat removexattrat"

// attributes: no version of Landlock covers them, so a command that may write nothing may not change them, and one that
// may write somewhere is watched, if there is a supervisor. A process that makes itself undumpable cannot be watched:
// its memory, directory and descriptors are closed to the supervisor, so that is refused.
func (o Options) attributes() []Rule {
	rules := always(ENOSYS, newAttributeCalls)
	if o.Notify {
		rules = append(rules, Rule{"prctl", []Cond{is(0, prSetDumping), {Arg: 1, Value: 1, Not: true}}, EPERM})
	}
	switch {
	case !o.Writable:
		rules = append(rules, always(EPERM, attributeCalls)...)
	case o.Notify:
		rules = append(rules, always(Notify, attributeCalls)...)
	}
	return rules
}
