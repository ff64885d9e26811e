package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHelloMakesNothing: a process that is only asked what it is leaves nothing in the state directory, and in the runtime directory only the
// level that it found, for the next process. The first call makes what it needs.
func TestHelloMakesNothing(t *testing.T) {
	dir, state, runtime := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	s := startServing(t, dir, state, nil)
	s.send(`{"jsonrpc":"2.0","id":1,"method":"agenttool/hello","params":{"client":{"name":"t","version":"1"}}}`)
	s.send(`{"jsonrpc":"2.0","id":2,"method":"agenttool/surface"}`)
	for range 2 {
		if _, ok := s.next(); !ok {
			t.Fatal("no answer")
		}
	}
	level := []string{filepath.Join(runtime, "toolhost"), filepath.Join(runtime, "toolhost", levelName)}
	if found := namesBelow(t, state); len(found) > 0 {
		t.Errorf("hello made %v", found)
	}
	if found := namesBelow(t, runtime); len(found) > 0 && !slices.Equal(found, level) {
		t.Errorf("hello made %v", found)
	}
	if o := s.call(3, "glob", `{"pattern":"*"}`); o.Result.Result.Status != "succeeded" {
		t.Errorf("%+v", o.Result.Result)
	}
	if found := namesBelow(t, state); len(found) == 0 {
		t.Error("a call left no log")
	}
}

// namesBelow are the names below a directory.
func namesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

// TestUnwritableState: toolhost starts where its state directory is read-only or full, with a log and without. Reads go on, and
// what is not in the log says so. Without a log commands run, too, and have their /tmp elsewhere.
func TestUnwritableState(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt").CombinedOutput(); err != nil {
		t.Skipf("no private mount namespace: %v: %s", err, out)
	}
	for name, mount := range map[string]string{
		"read-only": `mount -t tmpfs -o ro tmpfs "$XDG_STATE_HOME"`,
		"full":      `mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs "$XDG_STATE_HOME"`,
	} {
		for _, ephemeral := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ephemeral %v", name, ephemeral), func(t *testing.T) {
				dir, flags := t.TempDir(), []string{"--sandbox", "landlock", "--allow", "Shell", "--allow", "Write(**)"}
				if ephemeral {
					flags = append(flags, "--ephemeral")
				}
				if err := os.WriteFile(filepath.Join(dir, "f"), []byte("content\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				s := startServing(t, dir, t.TempDir(), []string{"unshare", "-rm", "sh", "-c", mount + ` && exec "$0" "$@"`}, flags...)
				for n := range 3 {
					o := s.call(n, "read", `{"path":"f"}`).Result.Result
					if o.Status != "succeeded" || !strings.Contains(o.Content[0].Text, "content") {
						t.Fatalf("read: %+v", o)
					}
					if said := len(o.Content) > 1 && strings.Contains(o.Content[1].Text, "not in the session log"); said != (n == 0 && !ephemeral) {
						t.Errorf("read %d: says that it is not in the log: %v", n, o.Content)
					}
				}
				o := s.call(9, "shell", `{"command":"echo x > /tmp/x; cat /tmp/x; echo y > y"}`).Result.Result
				if ephemeral && o.Status != "succeeded" || !ephemeral && o.Error.Code != "journal_unavailable" {
					t.Errorf("a command: %+v", o)
				}
				s.in.Close()
				_, _ = io.ReadAll(s.stdout.(io.Reader))
				_ = s.cmd.Wait()
				if left, err := os.ReadDir(filepath.Join(runtime, "toolhost", "scratch")); err != nil || len(left) > 0 {
					t.Errorf("%v is left of the scratch, %v", left, err)
				}
			})
		}
	}
}

// TestSocketsOfKilledSessions: the first call of the next session removes them, though no person has to reach it.
func TestSocketsOfKilledSessions(t *testing.T) {
	runtime, dir := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	left := filepath.Join(runtime, "toolhost", "killed.sock")
	if err := os.Mkdir(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left})
	if err != nil {
		t.Skip("the path is too long for a socket here:", err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s := startServing(t, dir, t.TempDir(), nil, "--sandbox", "none")
	if o := s.call(1, "glob", `{"pattern":"*"}`).Result.Result; o.Status != "succeeded" {
		t.Fatalf("%+v", o)
	}
	eventually(t, "the socket is removed", func() bool { _, err := os.Lstat(left); return err != nil })
}

// TestStalledState: where the disk of the state directory does not answer, every call is answered within its deadline and a second,
// and the output ends within the drain and two. The process stays until the disk has the log and has lost the scratch.
func TestStalledState(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	thaw := freezable(t, state)
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServing(t, dir, state, nil, "--allow", "Shell", "--allow", "Write(**)", "--drain", "1s")
	if o := s.call(1, "write", `{"path":"before","content":"x"}`).Result.Result; o.Status != "succeeded" {
		t.Fatalf("before: %+v", o)
	}
	freeze(t, state)
	for n, call := range []string{
		`"tool":"read","input":{"path":"f"}`, `"tool":"grep","input":{"pattern":"content"}`,
		`"tool":"write","input":{"path":"w","content":"x"}`, `"tool":"edit","input":{"path":"f","old_string":"content","new_string":"other"}`,
		`"tool":"shell","input":{"command":"cat f"}`, `"tool":"shell","input":{"command":"echo x > /tmp/x; echo y > y"}`,
		`"tool":"read","input":{"path":"f"}`,
	} {
		began, deadline := time.Now(), 1000
		if strings.HasPrefix(call, `"tool":"read"`) { // works, however busy the machine is
			deadline = 50_000
		}
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"agenttool/invoke","params":{"id":"c%d",%s,"timeout_ms":%d}}`, n+10, n, call, deadline))
		o, ok := s.next()
		if !ok {
			t.Errorf("%s: no answer: %+v", call, o.Result.Result)
		}
		within(t, call, time.Since(began), 2*time.Second, patience)
		if strings.HasPrefix(call, `"tool":"read"`) && o.Result.Result.Status != "succeeded" {
			t.Errorf("a read: %+v", o.Result.Result)
		}
	}
	began := time.Now()
	s.in.Close()
	rest, _ := io.ReadAll(s.stdout.(io.Reader))
	within(t, fmt.Sprintf("the end of the output %q", rest), time.Since(began), 3*time.Second, patience)
	thaw()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the disk answered, and toolhost ended with %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(state, "toolhost/scratch/*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
	if logs, _ := filepath.Glob(filepath.Join(state, "toolhost/sessions/*/log.jsonl")); len(logs) != 1 {
		t.Errorf("the logs are %q", logs)
	} else if b, err := os.ReadFile(logs[0]); err != nil || !bytes.Contains(b, []byte("session.closed")) {
		t.Errorf("the log was not closed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "w")); err == nil {
		t.Error("a write was done that its log does not hold")
	}
}

// freezable mounts a file system of its own at dir, and returns what lets it go on.
func freezable(t *testing.T, dir string) (thaw func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts and freezes a file system")
	}
	image := filepath.Join(t.TempDir(), "image")
	if out, err := exec.Command("sh", "-c", `truncate -s 32M "$0" && mkfs.ext4 -q "$0" && mount -o loop "$0" "$1"`, image, dir).CombinedOutput(); err != nil {
		t.Skipf("no file system to freeze: %v: %s", err, out)
	}
	thaw = func() { _ = exec.Command("fsfreeze", "--unfreeze", dir).Run() } // fails where it is not frozen
	t.Cleanup(func() {
		thaw()
		_ = exec.Command("umount", "--lazy", dir).Run()
	})
	return thaw
}

func freeze(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("fsfreeze", "--freeze", dir).CombinedOutput(); err != nil {
		t.Skipf("freeze: %v: %s", err, out)
	}
}
