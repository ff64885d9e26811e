//go:build !linux

package proc

import (
	"errors"
	"os"
	"syscall"
)

// Read reports whether there is a process of that number, and nothing of it: two processes that had the number one
// after the other are the same here.
func Read(pid int) (Process, bool) {
	if pid <= 0 {
		return Process{}, false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return Process{}, false
	}
	return Process{PID: pid, Foreground: -1}, true
}

// Signal sends sig to the process of that number. os.ErrProcessDone means that there is none.
func (p Process) Signal(sig syscall.Signal) error {
	if p.PID <= 0 {
		return os.ErrProcessDone
	}
	err := syscall.Kill(p.PID, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Below finds nobody.
func Below(int) []Process { return nil }

// CommandLine knows none.
func CommandLine(int) string { return "" }

// Holders finds nobody.
func Holders([]Process, []*os.File) []Holder { return nil }

// Waiting is never certain.
func Waiting([]Process, Input) (Waiter, bool) { return Waiter{}, false }

// Ports finds none.
func Ports([]Process) []Port { return nil }

// Marked finds nobody.
func Marked(string, func(string) bool) []Process { return nil }

// Boot is not known.
func Boot() string { return "" }

func inputOf(os.FileInfo) Input { return Input{} }
