package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// dig makes a chain of directories below dir, each holding the file z, and returns nothing open.
func dig(t *testing.T, dir, name string, depth int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range depth {
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		var next, file int
		next, err = unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(fd)
		fd = next
		if err == nil {
			file, err = unix.Openat(fd, "z", unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
			unix.Close(file)
		}
	}
	unix.Close(fd)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the open files are not listed here:", err)
	}
	return len(entries)
}

func TestDeepTree(t *testing.T) {
	const depth = 1000
	dir := plant(t, nil)
	dig(t, dir, "d", depth)
	tree := open(t, dir, Options{})
	before := openFiles(t)
	l := refreshed(t, tree)
	if len(l.Files) != depth || len(l.Dirs) != depth+1 || l.Unreadable != 0 || l.Partial {
		t.Fatalf("%d files, %d directories, %d unreadable", len(l.Files), len(l.Dirs), l.Unreadable)
	}
	if first := strings.Repeat("d/", depth) + "z"; l.Files[0].Path() != first {
		t.Errorf("first is %.20q…", l.Files[0].Path())
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files after, %d before", after, before)
	}
}

// Directories whose path is longer than a path can be are counted, not entered: what makes a tree endless.
func TestEndlessTree(t *testing.T) {
	dir := plant(t, nil)
	dig(t, dir, strings.Repeat("d", 250), 20)
	tree := open(t, dir, Options{})
	for range 2 {
		if l := refreshed(t, tree); l.Unreadable != 1 || len(l.Files) != maxPath/251 || l.Partial {
			t.Errorf("%d unreadable, %d files", l.Unreadable, len(l.Files))
		}
	}
}

func TestManyNames(t *testing.T) {
	count := 50_000
	if testing.Short() {
		count = 5_000
	}
	dir := plant(t, nil)
	for i := range count {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("name", i*7919%count)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir, Options{})
	l := refreshed(t, tree)
	if len(l.Files) != count || !slices.IsSorted(paths(l)) {
		t.Errorf("%d files", len(l.Files))
	}
	if cap(l.Files) > 2*count { // what is kept of a list is what it holds
		t.Errorf("room for %d files", cap(l.Files))
	}
}

// What does not fit into a tree is left out, said, and found when there is room.
func TestNoRoom(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", "d/b": "", "d/c": ""})
	tree := open(t, dir, Options{})
	tree.room.Store(1)
	for range 2 {
		if l := refreshed(t, tree); !l.Partial || len(l.Files) != 1 {
			t.Errorf("without room: %s", summary(l))
		}
	}
	tree.room.Add(maxCost)
	if l := refreshed(t, tree); l.Partial || len(l.Files) != 3 {
		t.Errorf("with room: %s", summary(l))
	}
}

func TestTooManyNames(t *testing.T) {
	n := &names{entries: make([]entry, maxEntries-1)}
	if !n.add([]byte("a"), 1, Regular) || n.add([]byte("b"), 2, Regular) || len(n.entries) != maxEntries {
		t.Errorf("%d names", len(n.entries))
	}
}

func TestOddNames(t *testing.T) {
	dir := plant(t, map[string]string{"new\nline": "", "é b/x": "", "-": "", "*": "", "\\": ""})
	want := []string{"*", "-", "\\", "new\nline", "é b/x"}
	if err := os.WriteFile(filepath.Join(dir, "bytes\xff"), nil, 0o644); err != nil {
		t.Log("the file system refuses names that are not UTF-8:", err)
	} else {
		want = slices.Insert(want, 3, "bytes\xff")
	}
	if got := paths(refreshed(t, open(t, dir, Options{}))); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A tree that changes all the time is walked to an end by several refreshes at a time, and what they return is
// sound.
func TestChangeDuringTheWalk(t *testing.T) {
	dir := plant(t, nil)
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprint("d", i%20), fmt.Sprint("e", i), "f"), "", false)
	}
	tree := open(t, dir, Options{})
	stop := make(chan struct{})
	var change, look sync.WaitGroup
	change.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			d := filepath.Join(dir, fmt.Sprint("d", i%20))
			os.Rename(d, filepath.Join(dir, "moved"))
			os.WriteFile(filepath.Join(dir, "moved", fmt.Sprint("new", i%5)), nil, 0o644)
			os.RemoveAll(filepath.Join(dir, "moved", fmt.Sprint("e", i%200)))
			os.WriteFile(filepath.Join(dir, ".ignore"), []byte(fmt.Sprint("new", i%7, "\n")), 0o644)
			os.Rename(filepath.Join(dir, "moved"), d)
		}
	})
	for range 2 {
		look.Go(func() {
			for range 20 {
				l, err := tree.Refresh(t.Context())
				if err != nil || !slices.IsSorted(paths(l)) {
					t.Error("not a sound list:", err)
				}
				for _, d := range l.Dirs {
					d.File("f")
					d.Gone()
				}
			}
		})
	}
	look.Wait()
	close(stop)
	change.Wait()
	if got, want := summary(refreshed(t, tree)), summary(refreshed(t, open(t, dir, Options{}))); got != want {
		t.Errorf("at rest: got\n%s\nwant\n%s", got, want)
	}
}
