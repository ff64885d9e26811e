package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLostDirectoriesAreMadeAgain removes directories of a session under it, as a program does that cleans up, while a job runs and after it:
// each later command and each later call of a file tool has them again, whichever comes first, and nothing is left at the end. A link in the
// place of one is not followed.
func TestLostDirectoriesAreMadeAgain(t *testing.T) {
	t.Parallel()
	c := openLines(t, "--mode", "sandboxed")
	c.greets(false)
	last := 0
	call := func(tool, arguments string) toolResult {
		t.Helper()
		last++
		c.call(last, tool, arguments)
		return c.answer(strconv.Itoa(last)).result(t)
	}
	command := func(line string) toolResult {
		t.Helper()
		return call("shell", fmt.Sprintf(`{"command": %q}`, line))
	}
	const uses = "set -e; mktemp >/dev/null; mktemp -p /var/tmp >/dev/null; mkdir -p $XDG_CACHE_HOME/x; echo kept > $XDG_CACHE_HOME/x/y; cat $XDG_CACHE_HOME/x/y"
	if r := command(uses); r.IsError || !strings.Contains(r.says(), "kept") {
		t.Fatalf("before anything is removed: %s", r.says())
	}
	state := filepath.Join(c.home, "state", "toolhost")
	found, err := filepath.Glob(filepath.Join(state, "scratch", "ses_*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("scratches: %q, %v", found, err)
	}
	scratch := found[0]
	call("shell", `{"command": "sleep 1000", "run_in_background": true}`)
	for phase, jobs := range []string{"while a job runs", "after it"} {
		for _, lost := range []string{"tmp", "var-tmp", "private", "stage", "tmp/.cache", "", "../../caches"} {
			remove := func() {
				if err := os.RemoveAll(filepath.Join(scratch, lost)); err != nil {
					t.Fatal(err)
				}
			}
			remove()
			if r := command(uses); r.IsError || !strings.Contains(r.says(), "kept") {
				t.Errorf("%s, without %q: %s", jobs, lost, r.says())
			}
			if r := command("cat small"); r.IsError || !strings.Contains(r.says(), "needle") { // it only reads
				t.Errorf("%s, without %q, a command that reads: %s", jobs, lost, r.says())
			}
			if r := call("glob", `{"pattern": "small"}`); r.IsError {
				t.Errorf("%s, without %q, a search: %s", jobs, lost, r.says())
			}
			for i, first := range []string{"after a command", "before a command"} {
				file, wrote := []string{"/tmp/c", "/var/tmp/new/c"}[(i+phase)%2], fmt.Sprint(last)
				if r := call("write", fmt.Sprintf(`{"path": %q, "content": %q}`, file, wrote)); r.IsError {
					t.Errorf("%s, without %q, a write of %s %s: %s", jobs, lost, file, first, r.says())
				}
				if r := call("read", fmt.Sprintf(`{"path": %q}`, file)); r.IsError || !strings.Contains(r.says(), wrote) {
					t.Errorf("%s, without %q, a read of %s %s: %s", jobs, lost, file, first, r.says())
				}
				if r := command("cat " + file + "; rm " + file); r.IsError || !strings.Contains(r.says(), wrote) {
					t.Errorf("%s, without %q, a command that reads %s, written %s: %s", jobs, lost, file, first, r.says())
				}
				remove()
			}
			if r := call("glob", `{"pattern": "*", "path": "/tmp"}`); r.IsError {
				t.Errorf("%s, without %q, a search in /tmp: %s", jobs, lost, r.says())
			}
		}
		call("shell_kill", `{"job": "j1"}`)
	}
	elsewhere, tmp := t.TempDir(), filepath.Join(scratch, "tmp")
	if err := os.RemoveAll(tmp); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, tmp); err != nil {
		t.Fatal(err)
	}
	if r := command("touch /tmp/x"); !r.IsError || !strings.Contains(r.says(), "remove it") {
		t.Errorf("with a link in the place of /tmp: %s", r.says())
	}
	if r := call("write", `{"path": "/tmp/x", "content": "x"}`); !r.IsError || !strings.Contains(r.says(), "remove it") {
		t.Errorf("with a link in the place of /tmp, a write: %s", r.says())
	}
	if names, _ := os.ReadDir(elsewhere); len(names) != 0 {
		t.Errorf("the link was followed to %v", names)
	}
	if err := os.Remove(tmp); err != nil {
		t.Fatal(err)
	}
	if r := command(uses); r.IsError {
		t.Errorf("without the link: %s", r.says())
	}
	_ = c.CloseInput()
	<-c.ended
	if left, _ := os.ReadDir(filepath.Join(state, "scratch")); len(left) != 0 {
		t.Errorf("left is %v", left)
	}
}
