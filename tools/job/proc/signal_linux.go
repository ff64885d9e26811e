package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signal sends sig to p and to no other process: it opens a pidfd first, and then compares the process's identity.
// os.ErrProcessDone means that p has ended; other errors come from the system.
//
// Without pidfds, before Linux 5.3 and under seccomp filters that do not know them, it sends the signal to the number
// right after the comparison.
func (p Process) Signal(sig syscall.Signal) error {
	if p.PID <= 0 {
		return os.ErrProcessDone
	}
	handle, err := unix.PidfdOpen(p.PID, 0)
	send := func() error { return unix.PidfdSendSignal(handle, sig, nil, 0) }
	switch {
	case err == nil:
		defer unix.Close(handle)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		send = func() error { return unix.Kill(p.PID, sig) }
	default:
		return done(err)
	}
	if now, ok := Read(p.PID); !ok || !now.Same(p) {
		return os.ErrProcessDone
	}
	return done(send())
}

// done maps ESRCH, for an ended process, to os.ErrProcessDone.
func done(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
