package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// childDir names the directory that a test's child process works in.
const childDir = "FILES_TEST_CHILD_DIR"

// inChild runs the test again in a child process with namespaces of its own, where it has the user id uid and, unless
// that is 0, no privileges. It returns the directory to work in when it is that child, and empty in the parent, where the
// test is over then.
func inChild(t *testing.T, uid int, setup func(dir string)) string {
	if dir := os.Getenv(childDir); dir != "" {
		return dir
	}
	dir := t.TempDir()
	setup(dir)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Skip("no user namespaces here:", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if _, reason, skipped := strings.Cut(string(out), "SKIPPED: "); skipped {
		t.Skip(strings.Split(reason, "\n")[0])
	}
	return ""
}

func TestReadOnlyDirectoryIsWrittenInPlace(t *testing.T) {
	dir := inChild(t, 1000, func(dir string) {
		os.Mkdir(filepath.Join(dir, "d"), 0o755)
		os.WriteFile(filepath.Join(dir, "d/f"), []byte("one\n"), 0o644)
		os.WriteFile(filepath.Join(dir, "d/readonly"), []byte("one\n"), 0o444)
		os.Chmod(filepath.Join(dir, "d"), 0o555)
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, "d"), 0o755) })
	})
	if dir == "" {
		return
	}
	p := projectIn(t, dir, Options{})
	r, err := p.edit("d/f", "one", "two and more")
	if err != nil || !r.InPlace || !strings.Contains(r.Note, "directory") || p.get("d/f") != "two and more\n" {
		t.Errorf("%+v, %v, file %q", r, err, p.get("d/f"))
	}
	_, err = p.write("d/new", "x")
	wantError(t, err, agenttool.ExecutionFailed, "permission", "d/new")
	_, err = p.edit("d/readonly", "one", "two")
	wantError(t, err, agenttool.ExecutionFailed, "permission", "d/readonly")
	p.noTemporaries("d")
}

func TestForeignOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 && os.Getenv(childDir) == "" {
		t.Skip("only root can give files away")
	}
	dir := inChild(t, 1000, func(dir string) {
		name := filepath.Join(dir, "f")
		os.WriteFile(name, []byte("one\n"), 0o644)
		os.Chmod(name, 0o666)
		os.Chown(name, 4711, 4712)
	})
	if dir == "" {
		return
	}
	p := projectIn(t, dir, Options{})
	before := p.lstat("f")
	r, err := p.edit("f", "one", "two")
	if err != nil || !r.InPlace || !strings.Contains(r.Note, "owner") || p.get("f") != "two\n" {
		t.Errorf("%+v, %v", r, err)
	}
	if after := p.lstat("f"); after.Uid != before.Uid || after.Ino != before.Ino {
		t.Errorf("owner %d became %d", before.Uid, after.Uid)
	}
	p.noTemporaries(".")
}

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	dir := inChild(t, 0, func(string) {})
	if dir == "" {
		return
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("SKIPPED: no tmpfs can be mounted here: " + err.Error())
	}
	p := projectIn(t, dir, Options{})
	p.put("f", "one\n")
	p.put("a", "one\n")
	if err := os.Link(p.path("a"), p.path("b")); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<20)
	for _, name := range []string{"f", "a"} { // a is written in place
		_, err := p.edit(name, "one", large)
		wantError(t, err, agenttool.DependencyUnavailable, agenttool.ResourceExhausted, name, "disk is full")
		if got := p.get(name); got != "one\n" {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		p.read(name)
		if _, err := p.write(name, large); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("write %s: %v", name, err)
		}
	}
	if _, err := p.write("new", large); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("new file: %v", err)
	}
	if names := p.names("."); len(names) != 3 {
		t.Errorf("files %q", names)
	}
	if _, err := p.edit("f", "one", "two"); err != nil {
		t.Errorf("the space was not given back: %v", err)
	}
}

func TestMountedFileIsWrittenInPlace(t *testing.T) {
	dir := inChild(t, 0, func(string) {})
	if dir == "" {
		return
	}
	p := projectIn(t, dir, Options{})
	p.put("f", "")
	p.put("source", "one\n")
	if err := unix.Mount(p.path("source"), p.path("f"), "", unix.MS_BIND, ""); err != nil {
		t.Skip("SKIPPED: no bind mounts here: " + err.Error())
	}
	r, err := p.edit("f", "one", "two")
	if err != nil || !r.InPlace || p.get("source") != "two\n" {
		t.Errorf("%+v, %v, source %q", r, err, p.get("source"))
	}
	p.noTemporaries(".")
}
