package enter

import (
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// rlimit is a limit to be set.
type rlimit struct {
	resource   int
	soft, hard uint64
}

func limitOf(s Step) rlimit {
	soft, _ := strconv.ParseUint(s.Args[1], 10, 64)
	hard, _ := strconv.ParseUint(s.Args[2], 10, 64)
	return rlimit{number(s.Args[0]), soft, hard}
}

// set lowers the limit of a process, 0 for this one. A hard limit that is lower already stays.
func (l rlimit) set(pid int) syscall.Errno {
	var now syscall.Rlimit
	if errno := prlimit(pid, l.resource, nil, &now); errno != 0 {
		return errno
	}
	hard := min(l.hard, now.Max)
	return prlimit(pid, l.resource, &syscall.Rlimit{Cur: min(l.soft, hard), Max: hard}, nil)
}

func prlimit(pid, resource int, set, old *syscall.Rlimit) syscall.Errno {
	_, errno := sys(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)))
	runtime.KeepAlive(set)
	runtime.KeepAlive(old)
	return errno
}

// number reads a decimal that the plan's maker wrote.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
