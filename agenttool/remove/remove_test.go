package remove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolhost/agenttool/remove"
)

// TestAll removes directories of every mode, and nothing at which a link among them points.
func TestAll(t *testing.T) {
	if dir := os.Getenv("TOOLHOST_TEST_REMOVE"); dir != "" {
		if err := remove.All(dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, mode := range []os.FileMode{0o700, 0o500, 0o300, 0} {
		base := t.TempDir()
		dir, kept := filepath.Join(base, "tree"), filepath.Join(base, "kept")
		make := func(path string) {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "file"), nil, 0o400); err != nil {
				t.Fatal(err)
			}
		}
		make(filepath.Join(dir, "a", "b"))
		make(kept)
		if err := os.Symlink(kept, filepath.Join(dir, "a", "link")); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(kept), filepath.Join(dir, "a", "b"), filepath.Join(dir, "a"), dir} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		asUser(t, dir, base)
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("%v: %s is still there: %v", mode, dir, err)
		}
		if at, err := os.Lstat(kept); err != nil || at.Mode().Perm() != mode {
			t.Errorf("%v: what a link points at was changed: %v %v", mode, at, err)
		}
		if err := os.Chmod(kept, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// asUser removes dir, as an ordinary user if the test runs as root, for whom there are no modes.
func asUser(t *testing.T, dir, base string) {
	if os.Getuid() != 0 {
		if err := remove.All(dir); err != nil {
			t.Error(err)
		}
		return
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("needs setpriv of util-linux as root")
	}
	if err := os.Chmod(filepath.Dir(base), 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "program")
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chown", "-hR", "65534:65534", base).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--", program, "-test.run=^TestAll$")
	cmd.Dir, cmd.Env = base, []string{"TOOLHOST_TEST_REMOVE=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
