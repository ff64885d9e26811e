package files

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNothingBesideWhileItIsWritten: a file that is being written has no name in the person's directory, so that a host that is
// killed leaves none.
func TestNothingBesideWhileItIsWritten(t *testing.T) {
	p := newProject(t, Options{})
	target := p.placed("f")
	if f, err := openNameless(target.dir, 0o600); err != nil {
		t.Skip("files here have names from the start:", err)
	} else {
		f.Close()
	}
	for _, mode := range []os.FileMode{0o600, 0o666} {
		temp := must[*temporary](t)(newTemporary("", target.dir, mode))
		if err := temp.write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(p.path(".")); err != nil || len(left) != 0 {
			t.Errorf("while it is written the directory has %v (%v)", left, err)
		}
		temp.discard()
	}
	p.noTemporaries(".")
}

// TestNothingBesideBeforeARename: a file that is about to replace another has its name in the stage, and beside the target only
// where the stage is missing or on another file system.
func TestNothingBesideBeforeARename(t *testing.T) {
	elsewhere, err := os.MkdirTemp("/dev/shm", "stage-")
	if err != nil {
		t.Skip("there is no other file system:", err)
	}
	t.Cleanup(func() { os.RemoveAll(elsewhere) })
	near := t.TempDir()
	for _, c := range []struct {
		name, stage    string
		staged, beside int
	}{
		{"stage", near, 1, 0},
		{"no stage yet", "", 0, 1},
		{"stage that is gone", filepath.Join(near, "gone"), 0, 1},
		{"stage on another file system", elsewhere, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, Options{})
			target := p.placed("f")
			if f, err := openNameless(target.dir, 0o600); err != nil {
				t.Skip("files here have names from the start:", err)
			} else {
				f.Close()
			}
			s := &session{options: Options{Stage: func() string { return c.stage }}}
			for _, replaced := range []bool{true, false} {
				temp := must[*temporary](t)(newTemporary(s.options.stage(), target.dir, 0o600))
				if err := temp.write([]byte("new")); err != nil {
					t.Fatal(err)
				}
				if err := temp.named(); err != nil {
					t.Fatal(err)
				}
				staged, _ := filepath.Glob(filepath.Join(c.stage, ".toolhost-*"))
				beside, _ := filepath.Glob(p.path(".toolhost-*"))
				if len(staged) != c.staged || len(beside) != c.beside {
					t.Errorf("staged %v, beside %v", staged, beside)
				}
				if len(staged)+len(beside) > 1 { // the link says which file it is about
					if at, err := os.Readlink(staged[0]); err != nil || at != beside[0] {
						t.Errorf("%s is beside, the stage notes %s (%v)", beside[0], at, err)
					}
				}
				if replaced {
					if err := temp.rename("f"); err != nil || p.get("f") != "new" {
						t.Errorf("it is not in its place: %v", err)
					}
				}
				temp.discard()
				if staged, _ := os.ReadDir(c.stage); len(staged) != 0 {
					t.Errorf("left in the stage: %v", staged)
				}
				p.noTemporaries(".")
			}
		})
	}
}
