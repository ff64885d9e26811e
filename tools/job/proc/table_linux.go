package proc

import (
	"bytes"
	"iter"
	"math"
	"strconv"
)

// Read reads the row of a process; ok is false if there is none. pid should be the number of a process: the system
// also answers for threads, although it does not list them.
func Read(pid int) (Process, bool) {
	var buf [1024]byte // the relevant part of the line ends before byte 600, whatever the numbers
	row, ok := readFile(processDir(pid)+"/stat", buf[:])
	if !ok {
		return Process{}, false
	}
	return parseStat(row)
}

// All yields all processes, of any user.
func All() iter.Seq[Process] {
	return func(yield func(Process) bool) {
		pids, _ := numbers("/proc", math.MaxInt)
		for _, pid := range pids {
			if p, ok := Read(pid); ok && !yield(p) {
				return
			}
		}
	}
}

// exiting is the kernel's PF_EXITING.
const exiting = 4

// parseStat parses a line of /proc/PID/stat: pid (name) state ppid pgrp session tty tpgid flags; the 14th and 15th
// fields are the CPU time, the 20th the number of threads, the 22nd the start time. The name may contain spaces,
// parentheses and newlines; the later fields do not. See proc_pid_stat(5).
func parseStat(row []byte) (Process, bool) {
	open, end := bytes.IndexByte(row, '('), bytes.LastIndexByte(row, ')')
	if open < 1 || end < open {
		return Process{}, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(row[:open])))
	f := bytes.Fields(row[end+1:])
	if err != nil || pid <= 0 || len(f) < 20 || len(f[0]) != 1 {
		return Process{}, false
	}
	n := make([]int64, 20)
	for i := 1; i < len(n); i++ {
		if n[i], err = strconv.ParseInt(string(f[i]), 10, 64); err != nil {
			return Process{}, false
		}
	}
	state := f[0][0]
	p := Process{
		PID: pid, Parent: int(n[1]), Group: int(n[2]), Session: int(n[3]), Foreground: int(n[5]),
		Born: uint64(n[19]), CPU: uint64(n[11]) + uint64(n[12]), Name: oneLine(string(row[open+1 : end])),
		terminal: uint64(uint32(n[4])), threads: int(n[17]),
	}
	ended := state == 'Z' || state == 'X' || n[6]&exiting != 0
	p.Dead = ended && p.threads <= 1
	p.Stopped = state == 'T' || state == 't'
	p.sleeping = state == 'S'
	return p, true
}
