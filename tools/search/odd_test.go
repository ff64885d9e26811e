package search

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpecialFilesAreCounted(t *testing.T) {
	tr := plant(t, map[string]string{"a": "needle\n"})
	if err := syscall.Mkfifo(filepath.Join(tr.dir, "fifo"), 0o666); err != nil {
		t.Skip("no FIFO can be made here:", err)
	}
	special := 1
	if l, err := net.Listen("unix", filepath.Join(tr.dir, "socket")); err == nil {
		defer l.Close()
		special++
	}
	if syscall.Mknod(filepath.Join(tr.dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5) == nil { // the superuser's right
		special++
	}
	text, got := tr.grep(t, `{"pattern":"needle"}`) // must not hang
	if got.Skipped.Special != special || got.Total != 1 || !strings.Contains(text, fmt.Sprintf("skipped %d special", special)) {
		t.Errorf("%s%+v", text, got)
	}
	if text, _ := tr.glob(t, `{"pattern":"*"}`); !strings.HasPrefix(text, "a\n") || strings.Contains(text, "fifo\n") {
		t.Errorf("glob: %q", text)
	}
	if e := tr.fail(t, tr.newGrep(), `{"pattern":"x","path":"fifo"}`); e.Code != "not_a_file" {
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
	if text, _ := tr.grep(t, `{"pattern":"needle"}`); text != "d/a:1:needle\n[left out 1 hidden (hidden)]\n" {
		t.Errorf("grep: %q", text)
	}
	if text, _ := tr.glob(t, `{"pattern":"*"}`); text != "d/a\nd/loop\nfile\nout\nself\ntwin\n[left out 1 hidden (hidden)]\n" {
		t.Errorf("glob: %q", text)
	}
	// A link that the call itself names was followed when it was located.
	if text, _ := tr.grep(t, `{"pattern":"needle","path":"out"}`); text != outside.dir+"/secret:1:needle\n" {
		t.Errorf("named link: %q", text)
	}
}

func TestOddNames(t *testing.T) {
	tr := plant(t, map[string]string{"new\nline:1:x": "needle\n", "bidi\u202e": "needle\n", "é b": "needle\n"})
	if err := os.WriteFile(filepath.Join(tr.dir, "bytes\xff"), []byte("needle\n"), 0o644); err != nil {
		t.Skip("the file system refuses names that are not UTF-8:", err)
	}
	text, got := tr.grep(t, `{"pattern":"needle"}`)
	want := `$'bidi\xe2\x80\xae':1:needle` + "\n" + `$'bytes\xff':1:needle` + "\n" + `$'new\nline:1:x':1:needle` + "\né b:1:needle\n"
	if text != want || got.Matches[1].Path != `$'bytes\xff'` || got.Matches[2].Path != "new\nline:1:x" {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// dig makes directories within one another, with a file z in each.
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
			unix.Write(file, []byte("needle\n"))
			unix.Close(file)
		}
	}
	unix.Close(fd)
}

// openFiles returns how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the open files are not listed here:", err)
	}
	return len(entries)
}

// A tree that is deeper than the directories that are kept open is searched to its end.
func TestDeepTree(t *testing.T) {
	const depth = 300
	tr := plant(t, nil)
	dig(t, tr.dir, "d", depth)
	before := openFiles(t)
	var files []string
	for next := new(int); next != nil; {
		_, got := tr.grep(t, map[string]any{"pattern": "needle", "output_mode": filesMode, "limit": 10_000, "offset": *next})
		if got.Skipped != (skipCounts{}) {
			t.Fatalf("skipped %+v", got.Skipped)
		}
		files = append(files, got.Files...)
		next = got.NextOffset
	}
	if len(files) != depth {
		t.Fatalf("%d files", len(files))
	}
	if first := strings.Repeat("d/", depth) + "z"; files[0] != first || files[depth-1] != "d/z" {
		t.Errorf("order: %.20q … %q", files[0], files[depth-1])
	}
	if err := tr.engine.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := openFiles(t); after > before+1 { // the root
		t.Errorf("%d files open after, %d before", after, before)
	}
}

// Directories whose path is longer than a path can be are counted, not entered: what makes a tree endless.
func TestEndlessTree(t *testing.T) {
	tr := plant(t, nil)
	dig(t, tr.dir, strings.Repeat("d", 250), 20)
	text, got := tr.grep(t, `{"pattern":"needle","output_mode":"files_with_matches"}`)
	if got.Skipped.Unreadable != 1 || got.Total < 10 || !strings.Contains(text, "skipped 1 unreadable") {
		t.Errorf("%d files, skipped %+v, %.200s", got.Total, got.Skipped, text[max(0, len(text)-200):])
	}
}

// The files that the kernel makes up have sizes that are not true, vanish, or have no end; some cannot be read.
func TestSearchOfAProcess(t *testing.T) {
	tr, err := open(t, "/proc/self")
	if err != nil {
		t.Skip("there is no /proc/self here:", err)
	}
	for range 3 { // the third one beside an index, if there is one
		call, err := tr.bind(t, tr.newGrep(), `{"pattern":"VmRSS","path":"/proc/self","no_ignore":true}`)
		if err != nil {
			t.Skip("it cannot be searched here:", err)
		}
		out, err := run(t, tr.newGrep(), call)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Structured.(grepResult); got.Total == 0 || got.TimedOut {
			t.Errorf("%+v", got)
		}
		if err := tr.engine.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A tree that changes all the time is searched all the same, and what does not change in it is found.
func TestTreeThatChanges(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f%d", i%10, i)] = "needle\n"
	}
	tr := plant(t, files)
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { shake(tr.dir, stop) })
	group.Go(func() { shake(tr.dir, stop) })
	defer group.Wait()
	defer close(stop)
	for range 60 {
		_, got := tr.grep(t, `{"pattern":"needle","output_mode":"files_with_matches","limit":1000}`)
		still := 0
		for _, name := range got.Files {
			if !strings.HasPrefix(name, "d0/") {
				still++
			}
		}
		if still < 270 || got.TimedOut {
			t.Fatalf("%d of 270 files, %+v", still, got.Skipped)
		}
	}
}

// shake renames, writes and removes what is in d0, and other names, until stop.
func shake(dir string, stop <-chan struct{}) {
	at := func(name string) string { return filepath.Join(dir, name) }
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		os.Rename(at("d0"), at("moved"))
		os.WriteFile(at("moved/new"), []byte("new needle\n"), 0o644)
		os.Rename(at("moved"), at("d0"))
		os.MkdirAll(at(fmt.Sprintf("z%d/deep", i%5)), 0o755)
		os.Remove(at("z0/fifo"))
		syscall.Mkfifo(at("z0/fifo"), 0o644)
		os.Symlink("..", at("z1/loop"))
		os.RemoveAll(at(fmt.Sprintf("z%d", (i+2)%5)))
	}
}
