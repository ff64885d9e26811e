package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/dirs"
)

// TestWorkspaceMoved: after the workspace was moved, replaced or removed each tool of both families says so, reads nothing and
// writes nothing; its jobs can still be ended. When it is back, calls work.
func TestWorkspaceMoved(t *testing.T) {
	t.Parallel()
	tools := []struct{ name, input string }{
		{"read", `{"path":"f"}`}, {"write", `{"path":"new","content":"x"}`}, {"edit", `{"path":"f","old_string":"needle","new_string":"x"}`},
		{"grep", `{"pattern":"needle"}`}, {"glob", `{"pattern":"*"}`}, {"shell", `{"command":"cat f; touch made"}`},
	}
	for _, c := range []struct {
		name string
		do   func(top string) error // in top, ws is a link to a
	}{
		{"renamed", func(top string) error { return os.Rename(top+"/a", top+"/moved") }},
		{"replaced", func(top string) error {
			return errors.Join(os.Rename(top+"/a", top+"/moved"), os.Rename(top+"/b", top+"/a"))
		}},
		{"its link leads elsewhere", func(top string) error { return errors.Join(os.Remove(top+"/ws"), os.Symlink("b", top+"/ws")) }},
		{"removed", func(top string) error { return os.RemoveAll(top + "/a") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			top := dirs.Real(t.TempDir())
			for _, dir := range []string{"a", "b"} {
				if err := errors.Join(os.Mkdir(top+"/"+dir, 0o755), os.WriteFile(top+"/"+dir+"/f", []byte("needle\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("a", top+"/ws"); err != nil {
				t.Fatal(err)
			}
			s := startServing(t, top+"/ws", t.TempDir(), nil, "--mode", "accept_edits", "--allow", "Shell", "--sandbox", "none")
			id := 0
			both := func(tool, input string) (said []string) {
				t.Helper()
				id++
				s.send(invocation(id, tool, input))
				s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"m%d","method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, input, modern))
				for len(said) < 2 {
					if !s.out.Scan() {
						t.Fatalf("the output ended after %v", said)
					}
					if line := s.out.Text(); strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) || strings.Contains(line, fmt.Sprintf(`"id":"m%d"`, id)) {
						said = append(said, line)
					}
				}
				return said
			}
			for _, line := range both("read", `{"path":"f"}`) {
				if !strings.Contains(line, "needle") {
					t.Fatalf("before: %s", line)
				}
			}
			s.call(1000, "shell", `{"command":"sleep 1000","run_in_background":true}`)
			if err := c.do(top); err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				for _, line := range both(tool.name, tool.input) {
					if !strings.Contains(line, "workspace_moved") && !strings.Contains(line, "Error (setup required)") {
						t.Errorf("%s: %s", tool.name, cut.Characters(line, 600))
					}
				}
			}
			for _, dir := range []string{"a", "b", "moved"} {
				for _, name := range []string{"new", "made"} {
					if _, err := os.Lstat(filepath.Join(top, dir, name)); err == nil {
						t.Errorf("%s was made in %s", name, dir)
					}
				}
				if b, err := os.ReadFile(filepath.Join(top, dir, "f")); err == nil && string(b) != "needle\n" {
					t.Errorf("%s/f holds %q", dir, b)
				}
			}
			for _, line := range both("shell_kill", `{"job":"j1"}`) {
				if strings.Contains(line, "workspace_moved") {
					t.Errorf("a job cannot be ended: %s", cut.Characters(line, 600))
				}
			}
			if c.name != "renamed" {
				return
			}
			if err := os.Rename(top+"/moved", top+"/a"); err != nil {
				t.Fatal(err)
			}
			for _, line := range both("read", `{"path":"f"}`) {
				if !strings.Contains(line, "needle") {
					t.Errorf("back again: %s", cut.Characters(line, 600))
				}
			}
		})
	}
}
