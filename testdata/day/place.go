package main

import (
	"context"
	_ "embed" // the home
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"toolhost/agenttool/remove"
)

//go:embed home.sh
var homeScript string

// patience is how long a step may take.
const patience = 5 * time.Minute

// place is a directory with a home, and the user who works there.
type place struct {
	dir, home, program string
	user               string
	uid, gid           int // -1: ourselves
	started            []int
}

// newPlace makes the first home, which later ones are copies of. They have the same name, so that outputs and caches can be compared.
func newPlace(o *options) (*place, error) {
	p := &place{uid: -1, gid: -1, user: os.Getenv("USER")}
	if os.Getuid() == 0 {
		u, err := user.Lookup("daemon")
		if err != nil {
			return nil, err
		}
		p.user = u.Username
		p.uid, _ = strconv.Atoi(u.Uid)
		p.gid, _ = strconv.Atoi(u.Gid)
	}
	own, _ := os.UserHomeDir()
	parents := []string{"/srv", own, "/var/tmp"} // not /tmp, where commands see another directory
	if o.in != "" {
		parents = []string{o.in}
	}
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, "toolhost-day-")
		if err == nil {
			p.dir = dir
			break
		}
	}
	if p.dir == "" {
		return nil, fmt.Errorf("no directory for a home")
	}
	p.home, p.program = filepath.Join(p.dir, "home"), filepath.Join(p.dir, "toolhost")
	if err := p.make(o); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *place) make(o *options) error {
	cmd := exec.Command("go", "build", "-o", p.program, "./cmd/toolhost")
	if o.program != "" {
		cmd = exec.Command("install", "-m", "755", o.program, p.program)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(p.home, 0o700); err != nil {
		return err
	}
	if p.uid >= 0 {
		if err := os.Chown(p.home, p.uid, p.gid); err != nil {
			return err
		}
	}
	home := p.command(context.Background(), "bash", "-c", homeScript)
	if o.short {
		home.Env = append(home.Env, "DAY_SHORT=1")
	}
	if out, err := home.CombinedOutput(); err != nil {
		return fmt.Errorf("home.sh: %w\n%s", err, out)
	}
	return os.Rename(p.home, p.first())
}

func (p *place) first() string { return filepath.Join(p.dir, "first") }

// fresh ends what the last day left running and makes a copy of the first home.
func (p *place) fresh() error {
	p.end()
	if err := remove.All(p.home); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", p.first(), p.home).CombinedOutput(); err != nil {
		return fmt.Errorf("copy of the home: %w\n%s", err, out)
	}
	return nil
}

// end ends the groups of processes that plain commands began.
func (p *place) end() {
	for _, pid := range p.started {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	p.started = nil
}

func (p *place) remove() {
	p.end()
	_ = remove.All(p.dir)
}

// command is a program with the environment of a login, as the user.
func (p *place) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = p.home
	cmd.Env = []string{"HOME=" + p.home, "USER=" + p.user, "LOGNAME=" + p.user, "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb",
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p.uid >= 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.gid)}
	}
	return cmd
}
