package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool/filesystem"
)

// stateOn is a file system that toolhost's state lies on.
type stateOn struct {
	name    string
	script  string   // mounts it at $1, with $0 as a file or directory beside it; empty: a poorFS is mounted
	poor    poorFS   // see mountPoor
	private bool     // only this user can enter the directory that it is mounted in
	weaker  []string // words of what is weaker
	costs   string   // words of what it costs
	refused bool     // calls that change something are
}

const loopMount = `truncate -s 64M "$0" && %s "$0" && mount -o loop%s "$0" "$1"`

var stateFileSystems = []stateOn{
	{name: "tmpfs", script: `mount -t tmpfs -o mode=755 tmpfs "$1"`, costs: "gone with the machine"},
	{name: "ext4", script: fmt.Sprintf(loopMount, "mkfs.ext4 -q", "")},
	{name: "ext4 without a journal", script: fmt.Sprintf(loopMount, "mkfs.ext4 -q -O ^has_journal", ""), costs: "waits for the disk once"},
	{name: "overlay", script: `mkdir "$0" && mount -t tmpfs tmpfs "$0" && mkdir "$0/lower" "$0/upper" "$0/work" && ` +
		`mount -t overlay -o "lowerdir=$0/lower,upperdir=$0/upper,workdir=$0/work" overlay "$1"`, costs: "waits for the disk once"},
	{name: "vfat", script: fmt.Sprintf(loopMount, "mkfs.vfat", ",umask=077"), weaker: []string{"no hard links", "no symbolic links", "no extended"}, costs: "waits for the disk once"},
	{name: "vfat that others read", script: fmt.Sprintf(loopMount, "mkfs.vfat", ""), refused: true,
		weaker: []string{"keeps no permissions", "no hard links", "no symbolic links", "no extended"}, costs: "waits for the disk once"},
	{name: "no sync", poor: poorFS{sync: true}, weaker: []string{"cannot sync files", "no extended"}, costs: "waits for the disk once"},
	{name: "no links", poor: poorFS{links: true}, weaker: []string{"no hard links", "no symbolic links", "no extended"}, costs: "waits for the disk once"},
	{name: "no permissions", poor: poorFS{permissions: true}, refused: true, weaker: []string{"keeps no permissions", "no extended"}, costs: "waits for the disk once"},
	{name: "no permissions, in a private place", poor: poorFS{permissions: true}, private: true, weaker: []string{"no extended"}, costs: "waits for the disk once"},
}

// TestStateFileSystems: what is weaker because of the file system that the state lies on is said once when calls begin, and by doctor; nothing
// is said where it can all that is asked of it. Calls go on, unless the log could be read by others. The kinds of which nothing is tried
// when a session begins can all that is tried.
func TestStateFileSystems(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems")
	}
	for _, row := range stateFileSystems {
		t.Run(row.name, func(t *testing.T) {
			base, err := os.MkdirTemp("/var/tmp", "toolhost-state-") // others can enter this, and no directory of a test
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(base) })
			if !row.private {
				if err := os.Chmod(base, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			state := filepath.Join(base, "state")
			if err := os.Mkdir(state, 0o755); err != nil {
				t.Fatal(err)
			}
			row.mount(t, filepath.Join(base, "beside"), state)
			row.check(t, state)
		})
	}
}

func (row stateOn) mount(t *testing.T, beside, at string) {
	if row.script == "" {
		mountPoor(t, at, row.poor)
		return
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", at, beside).Run() }) // one of them may be no mount
	script := row.script
	if out, err := exec.Command("sh", "-c", script, beside, at).CombinedOutput(); err != nil {
		t.Skipf("there is no such file system here: %v: %s", err, out)
	}
}

func (row stateOn) check(t *testing.T, state string) {
	can, err := filesystem.Probe(filepath.Join(state, "toolhost"))
	if err != nil {
		t.Fatal(err)
	}
	said := func(what string, weaker []string) {
		t.Helper()
		if len(weaker) != len(row.weaker) {
			t.Errorf("%s: %q, want %q", what, weaker, row.weaker)
		}
		for _, want := range row.weaker {
			if !slices.ContainsFunc(weaker, func(words string) bool { return strings.Contains(words, want) }) {
				t.Errorf("%s: %q is not in %q", what, want, weaker)
			}
		}
	}
	said("probe", can.Weaker())
	if filesystem.Complete(state) && len(can.Weaker()) > 0 {
		t.Errorf("nothing would be tried when a session begins, and it has %q", can.Weaker())
	}
	if (row.costs == "") != (can.Costs() == "") || !strings.Contains(can.Costs(), row.costs) {
		t.Errorf("it costs %q, want %q", can.Costs(), row.costs)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "toolhost", ".probe-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}

	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := t.TempDir()
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	s := startServing(t, dir, state, []string{"sh", "-c", `exec "$0" "$@" 2>` + stderr.Name()}, "--sandbox", "none", "--allow", "Write(**)", "--allow", "Shell")
	answers := []outcome{
		s.call(1, "write", `{"path":"f","content":"TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n"}`), s.call(2, "shell", `{"command":"cat f; rm f; seq 1 30000"}`), s.call(3, "read", `{"path":"."}`),
	}
	s.in.Close()
	_, _ = io.Copy(io.Discard, s.stdout.(io.Reader))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	for i, a := range answers[:2] {
		if r := a.Result.Result; (r.Status == "succeeded") == row.refused {
			t.Errorf("call %d: %+v", i+1, r)
		}
	}
	b, err := os.ReadFile(stderr.Name())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, filepath.Join(state, "toolhost")+" is on ") {
			told = append(told, line)
		}
	}
	said("told at the start", told)

	toolhost := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(t.TempDir(), "toolhost"), args...)
		self, err := os.Executable()
		if err == nil {
			err = os.Symlink(self, cmd.Path)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
		return cmd
	}
	if !row.refused {
		if out, err := toolhost("log", "verify").CombinedOutput(); err != nil {
			t.Errorf("verify: %v: %s", err, out)
		}
		if key, err := os.Stat(filepath.Join(state, "toolhost", "redact.key")); err != nil || key.Size() != 32 {
			t.Errorf("the key: %v", err)
		}
	}
	if row.name != "no sync" && row.name != "ext4 without a journal" {
		return // doctor makes sandboxes, which takes its time: two rows show that it says the same
	}
	var found struct {
		State struct {
			Weaker []string `json:"weaker"`
			Costs  string   `json:"costs"`
		} `json:"state"`
	}
	out, _ := toolhost("doctor", "--json").Output() // its exit code is about the sandbox
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&found); err != nil || found.State.Costs != can.Costs() {
		t.Errorf("doctor: %v, %+v in %s", err, found, out)
	}
	said("doctor", found.State.Weaker)
}
