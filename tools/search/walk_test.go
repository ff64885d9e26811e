package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpecialFilesAreCounted(t *testing.T) {
	tr := plant(t, map[string]string{"a": "needle\n"})
	if err := syscall.Mkfifo(filepath.Join(tr.dir, "fifo"), 0o666); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	text, got := tr.grep(t, `{"pattern":"needle"}`) // must not hang
	if got.Skipped.Special != 1 || got.Total != 1 || !strings.Contains(text, "skipped 1 special") {
		t.Errorf("%s%+v", text, got)
	}
	if e := tr.fail(t, NewGrep(tr.ws), `{"pattern":"x","path":"fifo"}`); e.Code != "not_a_file" {
		t.Errorf("a FIFO as root: %s %s", e.Code, e.Message)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside := plant(t, map[string]string{"secret": "needle\n"})
	tr := plant(t, map[string]string{"d/a": "needle\n"})
	for name, target := range map[string]string{
		"d/loop": "..", "self": "self", "out": outside.dir, "file": filepath.Join(outside.dir, "secret"), "twin": "d/a",
		"d/.gitignore": filepath.Join(outside.dir, "secret"),
	} {
		if err := os.Symlink(target, filepath.Join(tr.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := tr.grep(t, `{"pattern":"needle"}`); text != "d/a:1:needle\n" {
		t.Errorf("grep: %q", text)
	}
	if text, _ := tr.glob(t, `{"pattern":"*"}`); text != "d/a\nd/loop\nfile\nout\nself\ntwin\n" {
		t.Errorf("glob: %q", text)
	}
	// A link that the call itself names was followed when it was located.
	if text, _ := tr.grep(t, `{"pattern":"needle","path":"out"}`); text != outside.dir+"/secret:1:needle\n" {
		t.Errorf("named link: %q", text)
	}
}

func TestUnreadableDirectoryIsCounted(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser can read every directory")
	}
	tr := plant(t, map[string]string{"a": "needle\n", "closed/b": "needle\n", "file": "needle\n"})
	for _, name := range []string{"closed", "file"} {
		if err := os.Chmod(filepath.Join(tr.dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(tr.dir, "closed"), 0o755)
	_, got := tr.grep(t, `{"pattern":"needle"}`)
	if got.Skipped.Unreadable != 2 || got.Total != 1 {
		t.Errorf("%+v", got)
	}
}

func TestOddNames(t *testing.T) {
	tr := plant(t, map[string]string{"new\nline:1:x": "needle\n", "bidi\u202e": "needle\n", "é b": "needle\n"})
	if err := os.WriteFile(filepath.Join(tr.dir, "bytes\xff"), []byte("needle\n"), 0o644); err != nil {
		t.Skip("the file system refuses names that are not UTF-8:", err)
	}
	text, got := tr.grep(t, `{"pattern":"needle"}`)
	want := `"bidi\u202e":1:needle` + "\n" + `"bytes\xff":1:needle` + "\n" + `"new\nline:1:x":1:needle` + "\né b:1:needle\n"
	if text != want || got.Matches[1].Path != "bytes\ufffd" || got.Matches[2].Path != "new\nline:1:x" {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// A tree that is deeper than the directories that are kept open is searched to its end, files behind directories
// included.
func TestDeepTree(t *testing.T) {
	depth := 1000
	if testing.Short() {
		depth = 200
	}
	tr := plant(t, nil)
	dir, err := os.Open(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(dir.Fd())
	for range depth {
		next := mkdirIn(t, fd, "d")
		writeIn(t, fd, "z")
		if fd != int(dir.Fd()) {
			unix.Close(fd)
		}
		fd = next
	}
	writeIn(t, fd, "z")
	unix.Close(fd)
	dir.Close()
	before := openFiles(t)
	var files []string
	for next := new(int); next != nil; {
		_, got := tr.grep(t, map[string]any{"pattern": "needle", "output_mode": filesMode, "limit": 10_000, "offset": *next})
		if got.Skipped != (skipped{}) {
			t.Fatalf("skipped %+v", got.Skipped)
		}
		files = append(files, got.Files...)
		next = got.NextOffset
	}
	if len(files) != depth+1 {
		t.Fatalf("%d files", len(files))
	}
	if first := strings.Repeat("d/", depth) + "z"; files[0] != first || files[depth] != "z" {
		t.Errorf("order: %.20q … %q", files[0], files[depth])
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files open after, %d before", after, before)
	}
}

// Directories whose path is longer than a path can be are counted, not entered: what makes a tree endless.
func TestEndlessTree(t *testing.T) {
	tr := plant(t, nil)
	dir, err := os.Open(tr.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	name := strings.Repeat("d", 250)
	fd := int(dir.Fd())
	for range 20 {
		next := mkdirIn(t, fd, name)
		if fd != int(dir.Fd()) {
			unix.Close(fd)
		}
		fd = next
	}
	writeIn(t, fd, "z")
	unix.Close(fd)
	text, got := tr.grep(t, `{"pattern":"needle"}`)
	if got.Skipped.Unreadable != 1 || got.Total != 0 || !strings.Contains(text, "skipped 1 unreadable") {
		t.Errorf("%s%+v", text, got)
	}
}

// A directory that is moved away while the walk is below it is not read through its new parent.
func TestMovedDirectoryIsLost(t *testing.T) {
	deep := strings.Repeat("d/", maxOpen+5)
	elsewhere := plant(t, map[string]string{"z": "needle\n"})
	tr := plant(t, map[string]string{deep + "m": "x", "d/d/z": "needle\n", "d/z": "needle\n"})
	dir, err := tr.ws.OpenDir(located(t, tr))
	if err != nil {
		t.Fatal(err)
	}
	var visited []string
	w := &walker{ws: tr.ws, root: located(t, tr), enter: func(string) bool { return true }}
	w.visit = func(f found) bool {
		visited = append(visited, fmt.Sprint(f.path, f.kind))
		if f.name == "m" {
			if err := os.Rename(filepath.Join(tr.dir, "d/d/d"), filepath.Join(elsewhere.dir, "d")); err != nil {
				t.Error(err)
			}
		}
		return true
	}
	w.walk(context.Background(), dir)
	want := fmt.Sprint([]string{deep + "m0", "d/d2", "d2", "2"})
	if got := fmt.Sprint(visited); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func mkdirIn(t *testing.T, fd int, name string) int {
	t.Helper()
	if err := unix.Mkdirat(fd, name, 0o755); err != nil {
		t.Fatal(err)
	}
	next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func writeIn(t *testing.T, fd int, name string) {
	t.Helper()
	file, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(file)
	if _, err := unix.Write(file, []byte("needle\n")); err != nil {
		t.Fatal(err)
	}
}

// openFiles counts this process's descriptors; 0 where they are not listed.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
