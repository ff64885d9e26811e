//go:build !linux

package hook

import (
	"os/exec"
	"syscall"
)

// attributes make a process the leader of a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitExit returns when the process has ended, and takes it off the system's table.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// reap has nothing left to do.
func reap(*exec.Cmd) {}
