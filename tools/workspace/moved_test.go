package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"toolhost/agenttool"
)

// wantMoved checks that a workspace neither locates nor opens anything, or that it does both.
func wantMoved(t *testing.T, w *Workspace, dir, name string, moved bool) {
	t.Helper()
	p, err := Path(agenttool.Scope{Dir: dir}, name)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Locate(&p)
	if isMoved(err) != moved || !moved && err != nil {
		t.Errorf("locate %s: %v", name, err)
	}
	p.Resolved = filepath.Join(w.Roots()[0], name) // as it was located before
	f, err := w.OpenFile(p)
	if err == nil {
		f.Close()
	}
	if isMoved(err) != moved || !moved && err != nil {
		t.Errorf("open %s: %v", name, err)
	}
	d, _, err := w.Parent(p, true)
	if err == nil {
		d.Close()
	}
	if isMoved(err) != moved || !moved && err != nil {
		t.Errorf("parent of %s: %v", name, err)
	}
}

func isMoved(err error) bool {
	var e *agenttool.Error
	return errors.As(err, &e) && e.Code == "workspace_moved"
}

func TestMoved(t *testing.T) {
	rename := func(top, from, to string) error { return os.Rename(filepath.Join(top, from), filepath.Join(top, to)) }
	link := func(top, to, name string) error { return os.Symlink(to, filepath.Join(top, name)) }
	for _, c := range []struct {
		name string
		do   func(top string) error // in top, ws is a link to a, and b holds the same names
		want bool
	}{
		{"untouched", func(string) error { return nil }, false},
		{"renamed", func(top string) error { return rename(top, "a", "c") }, true},
		{"renamed and back", func(top string) error {
			return errors.Join(rename(top, "a", "c"), rename(top, "c", "a"))
		}, false},
		{"replaced", func(top string) error {
			return errors.Join(rename(top, "a", "c"), rename(top, "b", "a"))
		}, true},
		{"replaced by a link to itself", func(top string) error {
			return errors.Join(rename(top, "a", "c"), link(top, "c", "a"))
		}, true},
		{"removed", func(top string) error { return os.RemoveAll(filepath.Join(top, "a")) }, true},
		{"removed and made again", func(top string) error {
			return errors.Join(os.RemoveAll(filepath.Join(top, "a")), os.Mkdir(filepath.Join(top, "a"), 0o755), os.WriteFile(filepath.Join(top, "a/f"), nil, 0o644))
		}, true},
		{"its link leads elsewhere", func(top string) error { return errors.Join(os.Remove(filepath.Join(top, "ws")), link(top, "b", "ws")) }, true},
		{"its link is gone", func(top string) error { return os.Remove(filepath.Join(top, "ws")) }, true},
		{"its link is made again", func(top string) error { return errors.Join(os.Remove(filepath.Join(top, "ws")), link(top, "a", "ws")) }, false},
		{"its content changed", func(top string) error {
			return errors.Join(os.Chmod(filepath.Join(top, "a"), 0o700), os.WriteFile(filepath.Join(top, "a/g"), nil, 0o644), os.Mkdir(filepath.Join(top, "a/d"), 0o755))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			for _, dir := range []string{"a", "b"} {
				if err := errors.Join(os.Mkdir(filepath.Join(top, dir), 0o755), os.WriteFile(filepath.Join(top, dir, "f"), nil, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			ws := filepath.Join(top, "ws")
			if err := os.Symlink("a", ws); err != nil {
				t.Fatal(err)
			}
			w, err := Open([]string{ws})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			wantMoved(t, w, w.Roots()[0], "f", false)
			if err := c.do(top); err != nil {
				t.Fatal(err)
			}
			wantMoved(t, w, w.Roots()[0], "f", c.want)
		})
	}
}

// A further root that is gone stops the calls that name it, and no others.
func TestMovedFurtherRoot(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, name := range []string{"ws", "more"} {
		dir := filepath.Join(top, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "f"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	w, err := Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.Rename(dirs[1], dirs[1]+"2"); err != nil {
		t.Fatal(err)
	}
	wantMoved(t, w, dirs[0], "f", false)
	if _, err := locate(t, w, filepath.Join(dirs[1], "f")); !isMoved(err) {
		t.Errorf("a path in the root that was moved: %v", err)
	}
}
