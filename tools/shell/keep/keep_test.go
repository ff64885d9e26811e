package keep

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree makes files below a directory: name, content. A content that begins with -> is the target of a link.
func tree(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, []byte(files[i+1]), 0o640)
		if target, link := strings.CutPrefix(files[i+1], "->"); link {
			os.Remove(path)
			err = os.Symlink(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopyPutsBack: tar puts back what was removed, with content, modes and links.
func TestCopyPutsBack(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "a/one", "1", "a/b/two", "22", "a/link", "->one", "left", "x")
	if err := os.Chmod(filepath.Join(dir, "a/one"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Store{Dir: filepath.Join(t.TempDir(), "copies")}
	found, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "a")}, {Root: dir, Path: filepath.Join(dir, "missing")}})
	if !ok {
		t.Fatal("not found")
	}
	file, err := s.Save("inv", found)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xf", file, "-C", "/").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v %s", err, out)
	}
	for name, want := range map[string]string{"a/one": "1", "a/b/two": "22", "a/link": "1"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "a/one")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v: others can read it", info, err)
	}
}

// TestNothingToCopy: no file is made where nothing is lost.
func TestNothingToCopy(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "empty/x/.", "")
	s := &Store{Dir: filepath.Join(t.TempDir(), "copies")}
	found, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "missing")}})
	if file, err := s.Save("inv", found); !ok || err != nil || file != "" {
		t.Errorf("%v %q %v", ok, file, err)
	}
}

// TestNotCopied: secrets, repositories, places outside and large trees are refused.
func TestNotCopied(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	tree(t, outside, "secret", "s")
	tree(t, dir, "plain/x", "1", "env/.env", "K=1", "repository/sub/.git/HEAD", "ref", "held/x", "1", "link", "->"+outside)
	big := filepath.Join(dir, "big")
	tree(t, dir, "big/x", "")
	if err := os.Truncate(filepath.Join(big, "x"), maxBytes+1); err != nil {
		t.Fatal(err)
	}
	s := &Store{Dir: t.TempDir(), Refuses: func(path string) bool { return filepath.Base(path) == ".env" }}
	held := func(path string) bool { return strings.HasSuffix(path, "held/x") }
	for name, want := range map[string]bool{"plain": true, "env": false, "repository": false, "held": false, "link/secret": false, "big": false, "../x": false} {
		if _, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, name), Holds: held}}); ok != want {
			t.Errorf("%s: found %v, want %v", name, ok, want)
		}
	}
	found, ok := s.Find(Places{{Root: dir, Path: dir, Skip: func(path string, _ fs.FileInfo) bool { return path != dir && filepath.Base(path) != "plain" }}})
	if !ok || len(found.entries) != 2 { // the directory, and plain
		t.Errorf("of what is not skipped: %v, %d entries", ok, len(found.entries))
	}
}

// TestCopyFollowsNoLink: a directory that becomes a link to a place outside before the copy is made is not read.
func TestCopyFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	tree(t, outside, "x", "secret")
	tree(t, dir, "a/x", "public")
	s := &Store{Dir: t.TempDir()}
	found, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "a")}})
	if !ok {
		t.Fatal("not found")
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	tree(t, dir, "a", "->"+outside)
	if file, err := s.Save("inv", found); err == nil {
		content, _ := os.ReadFile(file)
		t.Errorf("copied %q", content)
	}
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("%d files are left of a copy that failed", len(left))
	}
}

// TestStoreIsBounded: old copies end, and the oldest ones make room.
func TestStoreIsBounded(t *testing.T) {
	s := &Store{Dir: t.TempDir()}
	now := time.Now()
	for name, age := range map[string]time.Duration{"new": 0, "middle": time.Hour, "older": 2 * time.Hour, "ancient": maxAge + time.Hour} {
		tree(t, s.Dir, name, strings.Repeat("x", 100))
		if err := os.Chtimes(filepath.Join(s.Dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (all string) {
		left, _ := os.ReadDir(s.Dir)
		for _, e := range left {
			all += e.Name() + " "
		}
		return all
	}
	if s.trim(1000, now); names() != "middle new older " {
		t.Errorf("by age: %s", names())
	}
	if s.trim(250, now); names() != "middle new " {
		t.Errorf("by size: %s", names())
	}
}

// TestCopyGoesBackWhereItWas: a directory that became a link since the copy was made is a directory again, and nothing is written behind the link.
func TestCopyGoesBackWhereItWas(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	tree(t, dir, "a/b/keys", "mine")
	tree(t, outside, "b/keys", "the user's", "keys", "the user's")
	s := &Store{Dir: t.TempDir()}
	found, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "a/b/keys")}})
	if !ok {
		t.Fatal("not found")
	}
	file, err := s.Save("inv", found)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"a/b", "a"} {
		if err := os.RemoveAll(filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		tree(t, dir, link, "->"+outside)
		if out, err := exec.Command("tar", "-xf", file, "-C", "/").CombinedOutput(); err != nil {
			t.Fatalf("tar: %v %s", err, out)
		}
		for _, name := range []string{"b/keys", "keys"} {
			if got, _ := os.ReadFile(filepath.Join(outside, name)); string(got) != "the user's" {
				t.Errorf("behind the link %s, %s is %q", link, name, got)
			}
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "a/b/keys")); string(got) != "mine" {
			t.Errorf("after the link %s, it is %q", link, got)
		}
	}
}

// TestNoCopyBehindLink: a place behind a link, which may lead to a secret under another name, is not copied.
func TestNoCopyBehindLink(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "secrets/x", "s", "a", "->secrets")
	s := &Store{Dir: t.TempDir(), Refuses: func(path string) bool { return strings.Contains(path, "/secrets/") }}
	if _, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "a/x")}}); ok {
		t.Error("it was found")
	}
}

// TestCopiesStandForADay: a flood of copies pushes none out that is younger than a day. What has no room is not copied.
func TestCopiesStandForADay(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, "x", strings.Repeat("x", 2000))
	s := &Store{Dir: t.TempDir()}
	tree(t, s.Dir, "copy", "")
	copied := filepath.Join(s.Dir, "copy")
	if err := os.Truncate(copied, maxStore-1000); err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]bool{time.Minute: false, 25 * time.Hour: true} {
		if err := os.Chtimes(copied, time.Now(), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Find(Places{{Root: dir, Path: filepath.Join(dir, "x")}}); ok != want {
			t.Errorf("beside a full store that is %s old: found %v, want %v", age, ok, want)
		}
	}
}
