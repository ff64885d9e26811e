package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
)

// Process is a snapshot of a row of the process table. PID and Born together identify a process until the machine
// restarts.
type Process struct {
	PID, Parent, Group, Session int

	Born uint64 // start time in clock ticks (1/100 s) after the start of the machine
	Name string // at most 15 bytes, chosen by the process

	// Dead is set for a process that has stopped running: a zombie, or one that is exiting. A process whose first
	// thread has ended while others run is not dead.
	Dead    bool
	Stopped bool // by a signal or a debugger

	Foreground int    // process group in the foreground of its controlling terminal; -1 without one
	CPU        uint64 // clock ticks of CPU time, in user and kernel mode

	terminal uint64 // device number of its controlling terminal, 0 without one
	threads  int    // number of its threads, 0 if unknown
	sleeping bool   // its first thread sleeps, and a signal would wake it
}

// Same reports whether p and q are the same process, read at any times. The zero Process equals none.
func (p Process) Same(q Process) bool { return p.PID == q.PID && p.Born == q.Born && p.PID != 0 }

// Holder is a process that can write to a pipe.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// Port is a TCP port where a process accepts connections.
type Port struct {
	Address string `json:"address"` // 127.0.0.1, 0.0.0.0 for all, ::1, :: for all of both families
	Port    int    `json:"port"`
	PID     int    `json:"pid"` // one of the processes with the socket: the first one examined
	Command string `json:"command"`
}

// Waiter is a process that is blocked reading the job's input.
type Waiter struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	On      string `json:"on"` // OnTerminal or OnStdin
}

// The kinds of input of a Waiter.
const (
	OnTerminal = "terminal"
	OnStdin    = "stdin"
)

// Input identifies a job's input: the pipe or the terminal that the job was started with. No process waits for the
// zero Input.
type Input struct {
	dev, ino uint64
	rdev     uint64 // of a terminal; 0 for a pipe
}

// InputOf identifies the pipe or terminal of f, which is an end of the pipe or the slave of the terminal. The result
// recognises the job's descriptors in any namespace. The error is that of f.Stat.
func InputOf(f *os.File) (Input, error) {
	info, err := f.Stat()
	if err != nil {
		return Input{}, err
	}
	return inputOf(info), nil
}

// maxLine is the maximum length of a line of foreign text, in characters.
const maxLine = 200

// oneLine returns s without surrounding space and without non-graphic characters: line ends, terminal controls and
// characters that change the direction of text. It cuts s to maxLine characters.
func oneLine(s string) string { return OneLine(s, unicode.IsGraphic) }

// OneLine is oneLine with a space for the characters that are not of a kind.
func OneLine(s string, is func(rune) bool) string {
	s = strings.Map(func(r rune) rune {
		if !is(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if runes := []rune(s); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return s
}

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

// CommandLine returns the arguments of a process as one line of at most 200 graphic characters. If there are none or
// they are inaccessible it returns the name, and "" if the process does not exist. The process controls this text.
func CommandLine(pid int) string {
	line, _ := within(pid, func() string {
		var buf [4*maxLine + 4]byte // longer than maxLine, so that oneLine marks the cut
		b, _ := readFile(processDir(pid)+"/cmdline", buf[:])
		return oneLine(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
	})
	if line != "" {
		return line
	}
	p, _ := Read(pid)
	return p.Name
}

// Inner returns the number of a process in the innermost pid namespace that it is in, as it knows it itself; pid where that is unknown.
func Inner(pid int) int {
	var buf [4096]byte
	text, _ := readFile(processDir(pid)+"/status", buf[:])
	_, rest, _ := strings.Cut(string(text), "\nNSpid:")
	line, _, _ := strings.Cut(rest, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return pid
	}
	number, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return pid
	}
	return number
}
