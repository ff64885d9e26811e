package seccomp

import "slices"

// A command without namespaces of its own shares its view of processes and IPC with all other processes of its user, and
// Landlock covers neither. This file closes these ways.

// Values of setpriority(2), ioprio_set(2) and prctl(2).
const (
	prioUser     = 2
	ioprioUser   = 3
	prSetDumping = 4
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
