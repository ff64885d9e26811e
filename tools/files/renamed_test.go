package files

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// A rename that fails after it happened has happened.
func TestRenamedAfterAll(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p := agenttool.Path{Spelling: "f", Absolute: filepath.Join(root, "f")}
	if err := w.Locate(&p); err != nil {
		t.Fatal(err)
	}
	dir, _, err := w.Parent(p, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, happens := range []bool{true, false} {
		temp, err := newTemporary("", dir, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := temp.named(); err != nil {
			t.Fatal(err)
		}
		if happens {
			if err := os.Rename(filepath.Join(root, temp.name), filepath.Join(root, "f")); err != nil {
				t.Fatal(err)
			}
		}
		if err := temp.renamed("f", syscall.EIO); (err == nil) != happens {
			t.Errorf("happened %v: %v", happens, err)
		}
		temp.discard()
		if left, _ := os.ReadDir(root); len(left) != 1 {
			t.Errorf("left are %v", left)
		}
	}
}
