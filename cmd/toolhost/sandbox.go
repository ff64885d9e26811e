package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/streams"
	"toolhost/permissions/protect"
	"toolhost/sandbox"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// sandboxCommand holds the flags and arguments of toolhost sandbox.
type sandboxCommand struct {
	flags   sessionFlags
	profile string
	write   []string
	reveal  []string
	hosts   []string
	quiet   bool
}

func newSandbox() *cobra.Command {
	var c sandboxCommand
	cmd := &cobra.Command{
		Use:   "sandbox [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command in a sandbox, as a call would",
		Long: `sandbox runs a command under a profile, with the streams of this terminal, and exits as it does.

read_only writes nothing but a private TMPDIR and reaches nobody. workspace writes the workspace, less what other programs
run or obey (hooks, shell start-up files, settings of editors), a scratch shown as /tmp, and reaches the hosts that were
allowed. Refused hosts and protected names are said on stderr, with the flag that would permit them.

Exit codes: those of the command; 125 the sandbox could not be made; 126 the command cannot be executed; 127 it was not
found; 128+n signal n ended it.`,
		Example: `  toolhost sandbox -- make test
  toolhost sandbox --profile read_only -- git log -3
  toolhost sandbox --allow-host example.com -- curl -sS https://example.com`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	f := cmd.Flags()
	c.flags.cmd = cmd
	f.SetInterspersed(false)
	f.StringVar(&c.flags.Workspace, "workspace", ".", "`directory` that the command may write, and where it starts")
	f.StringVar(&c.profile, "profile", string(sandbox.Workspace), "read_only or workspace")
	f.StringArrayVar(&c.write, "rw", nil, "further `directory` that may be written; may be repeated")
	f.StringArrayVar(&c.reveal, "reveal", nil, "secret or socket at `path` that the command may use; may be repeated")
	f.StringArrayVar(&c.hosts, "allow-host", nil, "`host` that may be reached, with a port or without; may be repeated")
	f.StringVar(&c.flags.Sandbox, "level", string(sandbox.Landlock), "`level` that must be held at least: full, landlock+notify, landlock")
	f.BoolVar(&c.quiet, "quiet", false, "do not say on stderr what was kept from the command")
	return cmd
}

// The exit codes of shells for a program that cannot be started.
const (
	exitSetup    = 125
	exitNotExec  = 126
	exitNotFound = 127
)

// run runs the command and ends with its exit code.
func (c *sandboxCommand) run(args []string) error {
	level, err := agenttool.ParseLevel(c.flags.Sandbox)
	if err != nil {
		return fmt.Errorf("--level: %w", err)
	}
	if level == sandbox.None {
		return errors.New("--level none: that is no sandbox; run the command itself")
	}
	if sandbox.Access(c.profile) == sandbox.Unconfined {
		return exitf(exitSetup, "--profile unconfined: that is no sandbox; run the command itself")
	}
	if err := makeAbsolute(c.write, c.reveal); err != nil {
		return exitf(exitSetup, "%v", err)
	}
	o := c.flags.options()
	if err := o.CheckHome(); err != nil {
		return err
	}
	w, scope, err := o.OpenWorkspace()
	if err != nil {
		return exitf(exitSetup, "%v", err)
	}
	defer w.Close()
	box, err := confine.New(confine.Options{Required: o.Sandbox, Name: fmt.Sprintf("command-%d", os.Getpid()), Secrets: protect.DefaultReadDeny()}, w, scope)
	if err != nil {
		return exitf(exitSetup, "%v", err)
	}
	if box.Refusal != nil {
		return exitf(exitSetup, "%v", box.Refusal)
	}
	defer box.Session.Close()
	if err := box.Prepare(); err != nil {
		return exitf(exitSetup, "%v", err)
	}
	return c.follow(box.Session, w, scope, args)
}

// makeAbsolute makes the paths of flags absolute: they are relative to the directory of the command line.
func makeAbsolute(lists ...[]string) (err error) {
	for _, paths := range lists {
		for i, path := range paths {
			if paths[i], err = filepath.Abs(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow starts the command and waits until nothing is left of it.
func (c *sandboxCommand) follow(s *sandbox.Session, w *workspace.Workspace, scope agenttool.Scope, args []string) error {
	path, err := findProgram(args[0])
	if err != nil {
		return err
	}
	at := agenttool.Path{Spelling: scope.Dir, Absolute: scope.Dir}
	if err := w.Locate(&at); err != nil {
		return exitf(exitSetup, "%v", err)
	}
	dir, err := w.OpenDir(at)
	if err != nil {
		return exitf(exitSetup, "%v", err)
	}
	defer dir.Close()
	relay, err := streams.NewRelay()
	if err != nil {
		return exitf(exitSetup, "%v", err)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	p, err := s.Start(context.Background(), &sandbox.Command{
		Path: path, Args: args, Env: shell.Environ(os.Environ(), scope.Dir), Dir: at.Resolved, At: dir.File(),
		Streams: relay.Streams,
		Profile: sandbox.Profile{Access: sandbox.Access(c.profile), Write: c.write, Unseal: c.write, Reveal: c.reveal, Hosts: c.hosts},
	})
	relay.Started()
	if err != nil {
		return startFailed(args[0], err)
	}
	for ended := false; !ended; {
		select {
		case sig := <-signals:
			p.Signal(sig.(syscall.Signal))
		case <-p.Exited():
			ended = true
		}
	}
	p.Kill()
	<-p.Gone()
	relay.Wait()
	if !c.quiet {
		for _, gap := range p.Confinement().Partial {
			fmt.Fprintln(output.Stderr(), "toolhost: not everything that is protected could be covered: "+gap)
		}
		for _, v := range p.Violations() {
			fmt.Fprintln(output.Stderr(), "toolhost: "+refusal(v))
		}
	}
	status := p.Ended().Status
	if status.Signaled() {
		return exitf(128+int(status.Signal()), "")
	}
	if code := status.ExitStatus(); code != 0 {
		return exitf(code, "")
	}
	return nil
}

// refusal describes a violation, with the flag that would permit it in place of the grant.
func refusal(v sandbox.Violation) string {
	flag := ""
	if kind, name, ok := strings.Cut(v.Grant, ":"); ok {
		flag = map[string]string{"host": "--allow-host ", "write": "--rw "}[kind]
		flag += name
	}
	if !strings.HasPrefix(flag, "--") {
		return v.String()
	}
	v.Grant = ""
	return v.String() + "; " + flag + " would permit it"
}

// findProgram looks a program up as a shell does.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return "", exitf(exitNotExec, "%s: cannot be executed", name)
	case err != nil:
		return "", exitf(exitNotFound, "%s: command not found", name)
	}
	return path, nil
}

// startFailed says why nothing ran.
func startFailed(name string, err error) error {
	var e *agenttool.Error
	if errors.As(err, &e) && e.Class == agenttool.ExecutionFailed {
		code := exitNotExec
		if errors.Is(err, os.ErrNotExist) {
			code = exitNotFound
		}
		return exitf(code, "%s: %v", name, e)
	}
	return exitf(exitSetup, "%v", err)
}
