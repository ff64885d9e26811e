package main

import (
	"os"
	"syscall"
)

// pollable returns a pipe on stdin as a file that the runtime waits for without giving up a thread: a call then runs on
// the thread that read it, which saves waking another one for each message. It is opened anew, since the flags of stdin
// itself are shared with whoever gave it to us. Anything else is returned as it is.
func pollable(stdin *os.File) *os.File {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return stdin
	}
	f, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return stdin
	}
	return f
}
