package hook

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make a process the leader of a session of its own, which dies with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the process has ended. It is left on the system's table, so that its number, which is that of its
// group, belongs to nobody else until its group has been ended as well.
func awaitExit(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// reap takes an ended process off the system's table.
func reap(cmd *exec.Cmd) { _ = cmd.Wait() }
