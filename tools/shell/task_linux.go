package shell

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// task is a row of the process table.
type task struct {
	pid, parent, group, session int
	born                        uint64 // in clock ticks since the machine started: with the pid, an identity
	name                        string
	dead                        bool // or dying: it has closed its files and runs no more
}

func (t task) same(u task) bool { return t.pid == u.pid && t.born == u.born && t.pid != 0 }

// signal sends sig to the process that t describes and to no other: the handle is opened first and what it stands
// for is compared then.
func (t task) signal(sig syscall.Signal) {
	handle, err := os.FindProcess(t.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if now, ok := readTask(t.pid); ok && now.same(t) {
		_ = handle.Signal(sig)
	}
}

// isThread reports whether a number is that of a thread, which /proc answers for though it does not list it.
func isThread(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return err == nil && !bytes.Contains(b, []byte("\nTgid:\t"+strconv.Itoa(pid)+"\n"))
}

// lastPID is the process number that was given out last.
func lastPID() (int, bool) {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(b))
	if len(fields) == 0 {
		return 0, false
	}
	pid, err := strconv.Atoi(fields[len(fields)-1])
	return pid, err == nil
}

// table reads the process table.
func table() []task {
	var tasks []task
	for _, pid := range pids() {
		if t, ok := readTask(pid); ok {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// pids are the numbers of all processes.
func pids() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // what was read before an error counts
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// exiting is the kernel's PF_EXITING.
const exiting = 4

// readTask reads one row: pid (name) state ppid pgrp session, as 9th the flags, as 22nd the start time. The name may
// hold spaces and parentheses.
func readTask(pid int) (task, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return task{}, false
	}
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return task{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return task{}, false
	}
	flags, _ := strconv.ParseUint(f[6], 10, 64)
	t := task{pid: pid, name: oneLine(string(b[open+1 : end]))}
	t.dead = f[0] == "Z" || f[0] == "X" || flags&exiting != 0
	t.parent, _ = strconv.Atoi(f[1])
	t.group, _ = strconv.Atoi(f[2])
	t.session, _ = strconv.Atoi(f[3])
	t.born, err = strconv.ParseUint(f[19], 10, 64)
	return t, err == nil
}
