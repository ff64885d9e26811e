package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A workspace that is a mount of another directory is one like others; another directory that is mounted over it later is not.
func TestMovedByMount(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, other := filepath.Join(top, "ws"), filepath.Join(top, "other")
	for _, dir := range []string{ws, other} {
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "f"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cannot := make(chan error, 1)
	go func() { // on a thread with mounts of its own, which ends with it
		defer close(cannot)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			cannot <- err
			return
		}
		bind := func(from, to string) {
			if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
				t.Errorf("mount %s at %s: %v", from, to, err)
			}
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Error(err)
			return
		}
		bind(other, ws)
		w, err := Open([]string{ws})
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		wantMoved(t, w, ws, "f", false)
		bind(other, ws) // the same once more
		wantMoved(t, w, ws, "f", false)
		third := filepath.Join(top, "third")
		if err := errors.Join(os.Mkdir(third, 0o755), os.WriteFile(filepath.Join(third, "f"), nil, 0o644)); err != nil {
			t.Error(err)
		}
		bind(third, ws)
		wantMoved(t, w, ws, "f", true)
		if err := unix.Unmount(ws, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		wantMoved(t, w, ws, "f", false)
	}()
	if err := <-cannot; err != nil {
		t.Skipf("mounts of our own: %v", err)
	}
}
