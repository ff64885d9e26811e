package proc

import (
	"os"
	"strings"
	"unicode"
)

// Process is a row of the process table as it was when it was read. PID and Born together are an identity for as long
// as the machine runs.
type Process struct {
	PID, Parent, Group, Session int

	Born uint64 // clock ticks (1/100 s) from the start of the machine to that of the process
	Name string // at most 15 bytes, chosen by the process

	// Dead is a process that runs no more: one that nobody has waited for yet, or that is on its way there. A process
	// whose first thread has ended while others run is not dead.
	Dead    bool
	Stopped bool // by a signal or a debugger

	Foreground int    // process group in the foreground of its controlling terminal; -1 without one
	CPU        uint64 // clock ticks that it has run for, in itself and in the kernel

	terminal uint64 // device number of its controlling terminal, 0 without one
	threads  int    // how many it has, 0 if that is not known
	sleeping bool   // its first thread waits for something, and a signal would wake it
}

// Same reports whether p and q are the same process, at whatever times they were read. The zero Process is none.
func (p Process) Same(q Process) bool { return p.PID == q.PID && p.Born == q.Born && p.PID != 0 }

// Holder is a process that can write to a pipe.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}

// Port is a TCP port on which a process accepts connections.
type Port struct {
	Address string `json:"address"` // 127.0.0.1, 0.0.0.0 for all, ::1, :: for all of both families
	Port    int    `json:"port"`
	PID     int    `json:"pid"` // one of those that hold the socket: the first in the order of asking
	Command string `json:"command"`
}

// Waiter is a process that is blocked reading the job's input.
type Waiter struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	On      string `json:"on"` // OnTerminal or OnStdin
}

// What a Waiter waits on.
const (
	OnTerminal = "terminal"
	OnStdin    = "stdin"
)

// Input is what a job reads: the pipe or the terminal that it was started with. The zero Input is nothing, which
// nobody waits for.
type Input struct {
	dev, ino uint64
	rdev     uint64 // of a terminal; 0 for a pipe
}

// InputOf describes the pipe of which f is an end, or the terminal of which f is the slave. It is how a descriptor
// of a job is recognised, in whatever namespaces the job is. The error is that of looking at f.
func InputOf(f *os.File) (Input, error) {
	info, err := f.Stat()
	if err != nil {
		return Input{}, err
	}
	return inputOf(info), nil
}

// maxLine is the number of characters after which a line of somebody else's making is cut.
const maxLine = 200

// oneLine returns s without surrounding space and without characters that are not graphic: those that end lines, that
// command terminals and that turn the direction of text. It is cut to maxLine characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
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
