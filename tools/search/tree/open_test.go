package tree

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpen(t *testing.T) {
	dir := plant(t, map[string]string{"a/b/c": ""})
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, open := range map[string]func(int, string, int) (int, error){"beneath": openBeneath, "stepwise": openStepwise} {
		for path, want := range map[string]bool{".": true, "a": true, "a/b": true, "link": false, "link/b": false, "a/b/c": false,
			"..": false, "a/../..": false, "none": false, "a/none/b": false} {
			fd, err := open(int(root.Fd()), path, safely|unix.O_DIRECTORY)
			if (err == nil) != want {
				t.Errorf("%s %q: %v", name, path, err)
			}
			if err == nil {
				unix.Close(fd)
			}
		}
	}
}

// A directory that was replaced by a link to one outside is not opened.
func TestOpenDir(t *testing.T) {
	dir := plant(t, map[string]string{"a/b/c": "", "away/b/c": ""})
	tree := open(t, filepath.Join(dir, "a"), Options{})
	l := refreshed(t, tree)
	for _, d := range l.Dirs {
		fd, err := tree.Open(d)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || statusOf(&st) != d.status {
			t.Errorf("%q: another directory", d.Path)
		}
		unix.Close(fd)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a/b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../away/b", filepath.Join(dir, "a/b")); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Open(l.Dirs[1]); err == nil {
		t.Error("a link was followed")
	} else if _, ok := err.(*os.PathError); !ok {
		t.Errorf("%T", err)
	}
	if err := retry(func() error { return syscall.EINTR }); err != syscall.EINTR {
		t.Error(err)
	}
}
