//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// errLinux is why there is no sandbox elsewhere.
var errLinux = errors.New("the sandbox needs Linux: this system has none yet")

// Session starts the commands of one host process. On this system they are Unconfined.
type Session struct {
	running   running
	protected *protect.Cache
}

// Open returns an error of class setup_required unless the level is None.
func Open(o Options) (*Session, error) {
	if o.Level != None {
		return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_unavailable", errLinux.Error()).Because(errLinux)
	}
	for fd := 3; fd < 256; fd++ {
		syscall.CloseOnExec(fd) // descriptors that we inherited are not for commands
	}
	return &Session{protected: o.Protected}, nil
}

// OwnLoopback is false.
func (p *Process) OwnLoopback() bool { return false }

// DialLoopback fails.
func (*Session) DialLoopback(context.Context, netip.AddrPort) (net.Conn, error) { return nil, errLinux }

// Level is None.
func (*Session) Level() Level { return None }

// Scratch is "".
func (*Session) Scratch() string { return "" }

// VarScratch is "".
func (*Session) VarScratch() string { return "" }

// Stage is "".
func (*Session) Stage() string { return "" }

// Shown is empty.
func (*Session) Shown() []string { return nil }

// ConfigNotes says nothing.
func (*Session) ConfigNotes([]string) []string { return nil }

// Start starts a command, which is Unconfined, in a process group of its own, and returns when it runs. Errors are of class
// setup_required for any other profile, and execution_failed when the program cannot be started.
func (s *Session) Start(ctx context.Context, c *Command) (*Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err := c.Profile.check()
	if err == nil && c.Profile.confined() {
		err = withoutSandbox(c.Profile)
	}
	if err != nil {
		return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_profile", err.Error()).Because(err)
	}
	if err := sameDirectory(c); err != nil {
		return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_failed", "the command did not run: "+err.Error()).Because(err)
	}
	p := &Process{exited: make(chan struct{}), gone: make(chan struct{})}
	p.mu.Lock() // so that it can be killed when it is there
	defer p.mu.Unlock()
	leave, err := s.running.join(p)
	if err == nil {
		if p.process, err = start(c); err != nil {
			leave()
		}
	}
	if err != nil {
		return nil, agenttool.Failure(agenttool.ExecutionFailed, "start_failed",
			fmt.Sprintf("the command was not started: %s: %v", c.Path, err)).Because(err)
	}
	go p.follow(leave) // ends with the command and its group
	return p, nil
}

func start(c *Command) (*os.Process, error) {
	files := c.files()
	if c.Script != "" {
		script, err := scriptFile(c.Script)
		if err != nil {
			return nil, err
		}
		defer script.Close()
		files = append(slices.Clip(files), script)
	}
	return os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Dir: c.Dir, Env: append([]string{}, c.Env...), Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal, Ctty: 0},
	})
}

// scriptFile returns a file without a name, at the beginning of its text.
func scriptFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "script-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	if _, err = f.WriteAt([]byte(text), 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sameDirectory reports a working directory whose name leads somewhere else by now. There is no portable way to start in one
// that is open.
func sameDirectory(c *Command) error {
	open, err := c.At.Stat()
	if err != nil {
		return fmt.Errorf("the working directory %s: %w", c.Dir, err)
	}
	named, err := os.Lstat(c.Dir)
	if err == nil && !os.SameFile(open, named) {
		err = errors.New("it was replaced")
	}
	if err != nil {
		return fmt.Errorf("the working directory %s: %w", c.Dir, err)
	}
	return nil
}

// Close ends every command of the session, with the rest of its group.
func (s *Session) Close() error {
	s.running.close()
	if s.protected != nil {
		s.protected.Close()
	}
	return nil
}

// Probe finds None.
func Probe(string) Finding {
	return Finding{Level: None, Missing: []Missing{{Full, errLinux.Error()}}}
}

// Failing is nil.
func (Finding) Failing() error { return nil }

// ProbeNow is Probe.
func ProbeNow(dir string) Finding { return Probe(dir) }

// Forget does nothing.
func Forget(...string) {}

// Remember does nothing.
func Remember(Finding, ...string) {}

// Make does nothing.
func (*Session) Make() error { return nil }

// ProbeOnce is Probe.
func ProbeOnce(...string) Finding { return Probe("") }

// HoldsHome reports whether a path is a directory that is closed to commands, or holds one: none is, on this system.
func (s *Session) HoldsHome(string) bool { return false }

// TryLayers fails.
func TryLayers(string) error { return errLinux }

// HoldNames does nothing: no command runs.
func (s *Session) HoldNames() (release func()) { return func() {} }

// UsualBounds are none.
func UsualBounds() Bounds { return Bounds{} }
