//go:build !linux

package sandbox

import (
	"errors"
	"syscall"

	"toolhost/agenttool"
)

// errLinux is why there is no sandbox elsewhere.
var errLinux = errors.New("the sandbox is made of what Linux has; this system has no other yet")

// Session is the sandbox of one host process; there is none on this system.
type Session struct{}

// Open returns an error of class setup_required.
func Open(Options) (*Session, error) {
	return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_unavailable", errLinux.Error()).Because(errLinux)
}

// Level is None.
func (*Session) Level() Level { return None }

// Scratch is "".
func (*Session) Scratch() string { return "" }

// Shown is empty.
func (*Session) Shown() []string { return nil }

// Start returns an error of class setup_required.
func (*Session) Start(c *Command) (*Process, error) {
	_, err := Open(Options{})
	return nil, err
}

// Close does nothing.
func (*Session) Close() error { return nil }

// Process is a command in its sandbox; there is none on this system.
type Process struct{}

// PID is 0.
func (*Process) PID() int { return 0 }

// Exited never happens.
func (*Process) Exited() <-chan struct{} { return nil }

// Gone never happens.
func (*Process) Gone() <-chan struct{} { return nil }

// Ended is nil.
func (*Process) Ended() *Ended { return nil }

// Signal does nothing.
func (*Process) Signal(syscall.Signal) {}

// Kill does nothing.
func (*Process) Kill() {}

// Violations is empty.
func (*Process) Violations() []Violation { return nil }

// Hints is empty.
func (*Process) Hints(string, string) []Violation { return nil }

// Confinement is empty.
func (*Process) Confinement() Confinement { return Confinement{} }

// Probe finds None.
func Probe(string) Finding {
	return Finding{Level: None, Missing: []Missing{{Full, errLinux.Error()}}}
}

// ProbeNow is Probe.
func ProbeNow(dir string) (Finding, error) { return Probe(dir), nil }

// ProbeOnce is Probe.
func ProbeOnce(dir string) Finding { return Probe(dir) }
