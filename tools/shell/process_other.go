//go:build !linux

package shell

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// sessionAttr makes the process the leader of a new session: no controlling terminal, a process group of its own.
func sessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// sealDescriptors marks the descriptors that the host may have been started with close-on-exec.
func sealDescriptors() {
	for fd := 3; fd < 256; fd++ {
		unix.CloseOnExec(fd)
	}
}

// awaitExit waits for the exit and reaps: there is no portable way to leave the zombie.
func awaitExit(p *process) { p.state, _ = p.Wait() }

// dirPath is the name of the directory: there is no portable way to enter an open one.
func dirPath(_ uintptr, name string) string { return name }
