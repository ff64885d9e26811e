package engine

import "golang.org/x/sys/unix"

// lowerPriority gives the current thread the lowest priority. On failure it keeps the normal one.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }
