package engine

import "golang.org/x/sys/unix"

// lowerPriority makes the present thread the last in line. If that fails it is one like the others.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }
