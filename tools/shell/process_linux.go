package shell

import (
	"errors"
	"math"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// sessionAttr makes the process the leader of a new session: no controlling terminal, a process group of its own.
// It dies with the host.
func sessionAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// sealDescriptors marks every descriptor of the host but the standard ones close-on-exec. Our own are made so; those
// that the host was started with are whatever its client forgot to close, and nothing for a command to find.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := 3; fd < 1024; fd++ { // a kernel before 5.11
		unix.CloseOnExec(fd)
	}
}

// awaitExit waits for the exit and leaves the zombie.
func awaitExit(p *process) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return // any other error means that it is no child of ours any more
		}
	}
}

// dirPath names an open directory so that a new process enters this very directory, whatever its name leads to by
// then.
func dirPath(fd uintptr, _ string) string {
	return "/proc/self/fd/" + strconv.FormatUint(uint64(fd), 10)
}
