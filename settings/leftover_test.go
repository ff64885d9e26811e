package settings

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLeftoversOfKilledWriters: what a process that was killed left beside the files is gone after the next start, unless another
// process is changing the file, or the name is not a file of ours.
func TestLeftoversOfKilledWriters(t *testing.T) {
	at := newPlace(t)
	at.Flag = filepath.Join(filepath.Dir(at.User), "other.json")
	files := []string{at.User, at.Project, at.Local, at.Flag, at.Trust}
	for _, file := range files {
		at.write(file, "{}")
		next, lock := beside(file)
		at.write(next, `{"mod`)
		at.write(lock, "")
	}
	open := func() {
		w, err := Open(at.Options)
		at.must(err)
		if w.Current() == nil {
			t.Fatal("there are no settings")
		}
	}
	_, path := beside(at.User)
	lock, err := os.Open(path) // another process writes
	at.must(err)
	at.must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	open()
	for _, file := range files {
		next, lock := beside(file)
		if there := exists(next) && exists(lock); there != (file == at.User) || there != (exists(next) || exists(lock)) {
			t.Errorf("%s: %v, %v", file, exists(next), exists(lock))
		}
		if !exists(file) {
			t.Errorf("%s is gone", file)
		}
	}
	lock.Close()
	open()
	if next, lock := beside(at.User); exists(next) || exists(lock) {
		t.Error("it is there when the other process has ended")
	}
	link, _ := beside(at.Local)
	at.must(os.Symlink(at.User, link))
	dir, _ := beside(at.Project)
	at.mkdir(dir)
	open()
	if !exists(link) || !exists(dir) || !exists(at.User) {
		t.Error("a link or a directory was removed")
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
