package claudecode

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/sandbox"
)

func resolved(t *testing.T, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// startCommand runs a command in a sandbox of a level, with a workspace of its own, until the test ends. It returns when the command has begun.
func startCommand(t *testing.T, level sandbox.Level, access sandbox.Access, root string) {
	t.Helper()
	base := resolved(t, t.TempDir())
	home := filepath.Join(base, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.Open(sandbox.Options{Level: level, Roots: []string{root}, Home: home, Dir: filepath.Join(base, "scratch"), Cache: filepath.Join(base, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	begun, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	at, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	c := &sandbox.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "echo begun; exec sleep 1000"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: root, At: at,
		Profile: sandbox.Profile{Access: access}, Streams: [3]*os.File{null, out, null},
	}
	if _, err := s.Start(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	out.Close()
	null.Close()
	if _, err := io.ReadFull(begun, make([]byte, len("begun"))); err != nil {
		t.Fatal(err)
	}
}

// TestRivalLevels: without mounts of its own, too, a command in the sandbox counts for the paths of its workspace, and for no others. (Level full
// is shown through the program.)
func TestRivalLevels(t *testing.T) {
	for _, c := range []struct {
		level  sandbox.Level
		access sandbox.Access
		counts bool
	}{
		{sandbox.LandlockNotify, sandbox.Workspace, true}, {sandbox.Landlock, sandbox.Workspace, true},
		{sandbox.Landlock, sandbox.ReadOnly, true}, // nothing shows that it only reads
	} {
		t.Run(strings.ReplaceAll(string(c.level), "+", " and ")+" "+string(c.access), func(t *testing.T) {
			root, other := resolved(t, t.TempDir()), resolved(t, t.TempDir())
			t.Chdir(root) // the session's process is this one: its working directory is its workspace
			startCommand(t, c.level, c.access, root)
			for dir, counts := range map[string]bool{root: c.counts, other: false} {
				w, err := wayOf(filepath.Join(dir, "file"))
				if err != nil {
					t.Fatal(err)
				}
				running, err := awaitRivals(w, false, dir)
				if err != nil || (running != "") != counts || counts && !strings.Contains(running, "sleep 1000") {
					t.Errorf("in its workspace %t: %q, %v", dir == root, running, err)
				}
			}
		})
	}
}

// TestRivalsBriefly: a command that ends soon costs a moment, and no prompt.
func TestRivalsBriefly(t *testing.T) {
	root := resolved(t, t.TempDir())
	t.Chdir(root)
	w, err := wayOf(filepath.Join(root, "file"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	began := t.Run("meanwhile", func(t *testing.T) {
		startCommand(t, sandbox.Landlock, sandbox.Workspace, root)
		found, _, err := rivals(w, false, root)
		if err != nil || len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
		go func() { // the command ends with this part of the test
			defer close(ended)
			if running, err := awaitRivals(w, false, root); err != nil || running != "" {
				t.Errorf("%q, %v", running, err)
			}
		}()
	})
	if began {
		<-ended
	}
}

// TestWay: a way has each directory in which a name is looked up, and ends where the kernel's does.
func TestWay(t *testing.T) {
	dir := resolved(t, t.TempDir())
	for _, d := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"a/to-c": "../c", "a/b/up": "..", "abs": dir + "/a", "loop": "loop", "a/missing": "none/x", "c/file-link": "../a/b/file"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a/b/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, file, through string }{
		{"a/b/file", "a/b/file", ". a a/b"},
		{"a/to-c/new", "c/new", ". a . c"},
		{"abs/b/up/b/file", "a/b/file", ". . a a/b a a/b"},
		{"c/file-link", "a/b/file", ". c . a a/b"},
		{"a/missing/y", "a/none/x/y", ". a a"},
		{"a/b/file/x", "a/b/file/x", ". a a/b"},
		{"none/x", "none/x", "."},
		{"a/b", "a/b", ". a"},
		{"a/../c", "c", ". ."},
	} {
		w, err := wayOf(dir + "/" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		var through []string
		for _, d := range w.Dirs {
			if rest, err := filepath.Rel(dir, d.Path); err == nil && !strings.HasPrefix(rest, "..") {
				through = append(through, rest)
			}
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, c.path))
		if err == nil && real != w.File.Path || w.File.Path != filepath.Join(dir, c.file) || strings.Join(through, " ") != c.through {
			t.Errorf("%s leads to %s (%s for the kernel) through %q", c.path, w.File.Path, real, through)
		}
	}
	if w, err := wayOf(dir + "/loop/x"); err == nil {
		t.Errorf("a loop leads to %s", w.File.Path)
	}
}

// TestLeaving: a process that has ended and is still listed changes nothing, one whose first thread alone has ended does.
func TestLeaving(t *testing.T) {
	if leaving(os.Getpid()) {
		t.Error("this process")
	}
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "an ended process", func() bool { return leaving(ended.Process.Pid) })
	_ = ended.Wait()
	if !leaving(ended.Process.Pid) {
		t.Error("one that is gone")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	threads := exec.Command(python, "-c", "import ctypes, platform, threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"+
		"ctypes.CDLL(None).syscall(93 if platform.machine() == 'aarch64' else 60, 0)")
	if err := threads.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = threads.Process.Kill()
		_ = threads.Wait()
	}()
	stat := fmt.Sprintf("/proc/%d/stat", threads.Process.Pid)
	waitFor(t, "the end of the first thread", func() bool {
		text, err := os.ReadFile(stat)
		return err == nil && strings.Contains(string(text), ") Z ")
	})
	if leaving(threads.Process.Pid) {
		t.Error("one whose first thread has ended")
	}
}

func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not seen in a minute: %s", what)
		}
	}
}

// TestRivalsOfOthers: a command of another user of the machine is no rival in directories that only their owner may write.
func TestRivalsOfOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root starts programs of another user")
	}
	cmd := exec.Command("/bin/cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61234, Gid: 61234}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	dir := t.TempDir()
	for mode, may := range map[os.FileMode]bool{0o755: false, 0o775: true, 0o757: true, 0o700: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if mayWrite(cmd.Process.Pid, dir) != may || !mayWrite(os.Getpid(), dir) {
			t.Errorf("%o: want %t for another user, and always for this one", mode, may)
		}
	}
	if err := os.Chown(dir, 61234, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if !mayWrite(cmd.Process.Pid, dir) {
		t.Error("the owner may write")
	}
}
