package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signal sends sig to p and to no other: the handle is opened first, and what it stands for is compared then.
// os.ErrProcessDone means that p is gone; other errors are those of the system.
//
// Where the system has no such handles, before Linux 5.3 and under filters that know none, the number is signalled right
// after it was compared.
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

// done gives the error of a process that is gone its usual name.
func done(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
