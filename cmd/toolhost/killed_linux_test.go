package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unfinished are the names of files that are about to replace others, and of locks.
var unfinished = regexp.MustCompile(`^\.(.*\.(new|lock|tmp)|.*-[0-9]{4,}|toolhost-.*)$`)

// TestKilledWritersLeaveNothing kills programs right before they sync, name and rename the file that is to replace another. Then the same
// program runs as usual, and nothing of that file is left, in the workspace or in the home.
func TestKilledWritersLeaveNothing(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace to kill with: ", err)
	}
	if out, err := exec.Command(strace, "-qq", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("nothing can be traced here: %v: %s", err, out)
	}
	for _, program := range []struct {
		name string
		args []string
	}{
		{"setup", []string{"setup", "--project", "--yes", "claude"}},
		{"undo of setup", []string{"setup", "--undo", "--project", "--yes", "claude"}},
		{"settings", []string{"settings", "add-rule", "deny", "Read(secrets)", "--project"}},
		{"trust", []string{"trust", "--yes"}},
		{"write", []string{"call", "write", `{"path": "new", "content": "text"}`, "--allow", "Write"}},
		{"edit", []string{"call", "edit", `{"path": "small", "old_string": "needle", "new_string": "pin"}`, "--allow", "Write"}},
	} {
		t.Run(program.name, func(t *testing.T) {
			killed := 0
			for _, at := range killPoints() {
				d := newDoor(t, frontHome(t))
				put := func(name, text string) {
					path := filepath.Join(d.home, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				put("ws/.toolhost/settings.json", `{"permissions": {"allow": ["Shell(make)"]}}`)
				put("ws/.mcp.json", `{"mcpServers": {}}`)
				if program.name == "undo of setup" {
					if out, err := d.command("setup", "--project", "--yes", "claude").CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				}
				usual := d.command(program.args...)
				traced := d.command()
				traced.Path = strace
				traced.Args = append([]string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + at.call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", at.call, at.n), usual.Path}, program.args...)
				if err := traced.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
					continue // it makes fewer such calls
				}
				killed++
				if out, err := usual.CombinedOutput(); err != nil {
					t.Errorf("%v: the next one fails: %v: %s", at, err, out)
				}
				_ = filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
					if err == nil && !e.IsDir() && unfinished.MatchString(e.Name()) {
						t.Errorf("%v: it left %s", at, strings.TrimPrefix(path, d.home))
					}
					return nil
				})
			}
			if killed == 0 {
				t.Error("it was never killed")
			}
		})
	}
}

// killPoint is a system call, and which one of a thread.
type killPoint struct {
	call string
	n    int
}

func killPoints() (points []killPoint) {
	for _, call := range []string{"renameat", "fsync", "linkat"} {
		for n := range count(1, 4) {
			points = append(points, killPoint{call, n + 1})
		}
	}
	return points
}
