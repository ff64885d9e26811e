package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The tests touch nothing of the user who runs them. They have a home of their own, and what they need of go's caches, by name. An ordinary
// user can make directories below /tmp and in the home alone, and a sandbox treats both in its own way; so the tests of an ordinary user run in
// a mount namespace where /srv is a directory of theirs. root makes directories in /srv without that.

// apartVariable is in the environment of the test process: "mount:DIR" in the new namespace, and "done:DIR" when DIR is at /srv.
const apartVariable = "TOOLHOST_TESTS_APART"

// runApart runs the tests with a home of their own, in a namespace of their own where it can.
func runApart(run func() int) int {
	stage, dir, _ := strings.Cut(os.Getenv(apartVariable), ":")
	if stage == "" {
		var err error
		if dir, err = os.MkdirTemp("", "toolhost-tests-"); err != nil {
			panic(err)
		}
		if unshare := ordinaryUnshare(); unshare != nil {
			execWith("mount:"+dir, append(unshare, os.Args...))
		}
	}
	if stage == "mount" {
		runtime.LockOSThread() // capabilities are those of a thread
		if err := unix.Mount(dir, "/srv", "", unix.MS_BIND, ""); err != nil {
			panic(err)
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			panic(err)
		}
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			panic(err)
		}
		execWith("done:"+dir, os.Args)
	}
	defer os.RemoveAll(dir)
	if err := ownHome(filepath.Join(dir, "home")); err != nil {
		panic(err)
	}
	return run()
}

// ordinaryUnshare is the command that runs another one in namespaces in which an ordinary user may mount, nil where that is not to be had.
func ordinaryUnshare() []string {
	if os.Getuid() == 0 {
		return nil
	}
	command := []string{"unshare", "--user", "--mount", "--map-current-user", "--keep-caps"}
	if exec.Command(command[0], append(command[1:], "true")...).Run() != nil {
		return nil
	}
	return command
}

// execWith replaces this process by a command.
func execWith(stage string, command []string) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		panic(err)
	}
	if err := os.Setenv(apartVariable, stage); err != nil {
		panic(err)
	}
	panic(syscall.Exec(path, command, os.Environ()))
}

// ownHome makes a home for the tests. Tool chains stay where they are.
func ownHome(home string) error {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env := map[string]string{"HOME": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "XDG_RUNTIME_DIR": ""}
	if out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH").Output(); err == nil {
		if err := json.Unmarshal(out, &env); err != nil {
			return fmt.Errorf("go env: %w", err)
		}
	}
	if was, err := os.UserHomeDir(); err == nil {
		for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"} {
			if dir = filepath.Join(was, dir); os.Getenv(name) == "" && isDirectory(dir) {
				env[name] = dir
			}
		}
	}
	for name, value := range env {
		set := os.Setenv
		if value == "" {
			set = func(name, _ string) error { return os.Unsetenv(name) }
		}
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}
