//go:build !linux

package proc

import (
	"errors"
	"iter"
	"os"
	"syscall"
)

// Read reports only whether a process with that number exists: a later process with the same number looks the same.
func Read(pid int) (Process, bool) {
	if pid <= 0 {
		return Process{}, false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return Process{}, false
	}
	return Process{PID: pid, Foreground: -1}, true
}

// Signal sends sig to the process with that number. os.ErrProcessDone means that there is none.
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

// Below returns nothing on this system.
func Below(int) []Process { return nil }

// All yields nothing on this system.
func All() iter.Seq[Process] { return func(func(Process) bool) {} }

// CommandLine returns "" on this system.
func CommandLine(int) string { return "" }

// Inner returns pid.
func Inner(pid int) int { return pid }

// Holders returns nothing on this system.
func Holders([]Process, []*os.File) []Holder { return nil }

// Waiting always returns false on this system.
func Waiting([]Process, Input) (Waiter, bool) { return Waiter{}, false }

// Ports returns nothing on this system.
func Ports([]Process) []Port { return nil }

// Marked returns nothing on this system.
func Marked(func(string) bool, ...string) []Process { return nil }

func inputOf(os.FileInfo) Input { return Input{} }
