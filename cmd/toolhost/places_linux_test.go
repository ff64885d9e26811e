package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlacesThatAreNone: where a variable names a file, a link that leads nowhere or a relative path, each door says what is in the way and what
// to do, and reads go on. What cannot be recorded is refused as a dependency that is unavailable.
func TestPlacesThatAreNone(t *testing.T) {
	t.Parallel()
	const isFile, leadsNowhere, counts = "/file is no directory: move it away, or name another directory",
		"/link is a link that leads nowhere: remove it, or name another directory", "counts for nothing: relative is relative; name an absolute path"
	for _, test := range []struct {
		variable, value string
		says            string
		failing, going  []string // doors
	}{
		{"XDG_STATE_HOME", "file", isFile, []string{"write", "log"}, []string{"read", "hook", "check"}},
		{"XDG_STATE_HOME", "link", leadsNowhere, []string{"write"}, []string{"read", "hook", "check"}},
		{"XDG_CONFIG_HOME", "file", isFile, []string{"settings"}, []string{"read", "write", "hook", "check", "log"}},
		{"XDG_CONFIG_HOME", "link", leadsNowhere, []string{"settings"}, []string{"read", "write", "hook", "check", "log"}},
		{"XDG_RUNTIME_DIR", "file", isFile, nil, []string{"read", "write", "hook", "check", "log", "settings"}},
		{"XDG_CACHE_HOME", "file", isFile, nil, []string{"read", "write", "hook", "check", "log", "settings"}},
		{"XDG_CACHE_HOME", "link", leadsNowhere, nil, []string{"read", "write", "hook", "check", "log", "settings"}},
		{"XDG_STATE_HOME", "relative", counts, nil, []string{"read", "write", "hook", "check", "log", "settings"}},
		{"XDG_CONFIG_HOME", "relative", counts, nil, []string{"read", "write", "hook", "check", "log", "settings"}},
	} {
		t.Run(test.variable+" "+test.value, func(t *testing.T) {
			d := newDoor(t, frontHome(t))
			if err := os.WriteFile(filepath.Join(d.home, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(d.home, "nowhere"), filepath.Join(d.home, "link")); err != nil {
				t.Fatal(err)
			}
			value := filepath.Join(d.home, test.value)
			if test.value == "relative" {
				value = test.value
			}
			door := func(args ...string) (string, error) {
				cmd := d.command(args...)
				cmd.Env = append(cmd.Env, test.variable+"="+value)
				cmd.Stdin = strings.NewReader(`{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}, "cwd": "` + d.ws + `"}`)
				out, err := cmd.CombinedOutput()
				if _, exited := err.(*exec.ExitError); err != nil && !exited {
					t.Fatal(err)
				}
				return string(out), err
			}
			if said, err := door("doctor"); err != nil || !strings.Contains(said, test.says) {
				t.Errorf("doctor: %v, want %q: %s", err, test.says, said[:min(len(said), 600)])
			}
			for _, one := range []struct {
				name string
				args []string
			}{
				{"read", []string{"call", "--sandbox", "none", "read", "small"}},
				{"write", []string{"call", "--sandbox", "none", "write", `{"path": "n", "content": "x"}`, "--allow", "Write"}},
				{"hook", []string{"hook", "claude"}},
				{"check", []string{"check", "read", `{"path": "small"}`}},
				{"log", []string{"log"}},
				{"settings", []string{"settings", "add-rule", "deny", "Read(x)"}},
			} {
				name := one.name
				said, err := door(one.args...)
				switch {
				case slices.Contains(test.failing, name) && (err == nil || !strings.Contains(said, test.says)):
					t.Errorf("%s: %v, want %q: %s", name, err, test.says, said)
				case slices.Contains(test.going, name) && err != nil:
					t.Errorf("%s fails: %v: %s", name, err, said)
				case name == "write" && slices.Contains(test.failing, name) && !strings.Contains(said, "dependency unavailable"):
					t.Errorf("%s has another class: %s", name, said)
				}
			}
			if names, _ := os.ReadDir(d.ws); slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == "relative" }) {
				t.Error("something was made at the relative path")
			}
		})
	}
}
