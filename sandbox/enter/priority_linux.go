package enter

import (
	"strconv"
	"syscall"
)

// niceness is how much nicer a command that nobody waits for is than its host. Beside other work it gets a third of the processor time that
// it had otherwise, and of the disk's; alone it gets all.
const niceness = 5

// normal is the result of the getpriority system call for niceness 0: the kernel returns 20 minus the niceness.
const normal = 20

// lowerPriority makes the calling thread nicer, with all that it starts from then on.
func lowerPriority() {
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, min(normal-own+niceness, 19))
	}
}

// setSessionPriority gives the session of a process the priority that the process has: where the kernel groups processes by
// session, it shares out time among the groups, and niceness counts only within one. It refuses a person's second change within
// 100 ms; then done is false.
func (v *view) setSessionPriority(pid int) (done bool) {
	own, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	if err != nil {
		return true // it has ended
	}
	proc := v.proc
	if proc == 0 {
		if proc, err = syscall.Open("/proc", oPath|syscall.O_CLOEXEC, 0); err != nil {
			return true
		}
		defer syscall.Close(proc)
	}
	fd, err := syscall.Openat(proc, strconv.Itoa(pid)+"/autogroup", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return true // the kernel makes no such groups
	}
	defer syscall.Close(fd)
	_, err = syscall.Write(fd, strconv.AppendInt(nil, int64(normal-own), 10))
	return err != syscall.EAGAIN
}
