package notify

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSplit(t *testing.T) {
	tests := []struct{ name, parent, last string }{
		{"file", "", "file"},
		{"/file", "/", "file"},
		{"a/b", "a/", "b"},
		{"a//b//", "a//", "b"},
		{"/", "/", ""},
		{"//", "//", ""},
		{".", ".", ""},
		{"a/..", "a/..", ""},
		{"a/../", "a/../", ""},
		{"a/...", "a/", "..."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if parent, last := split(test.name); parent != test.parent || last != test.last {
				t.Errorf("got %q, %q; want %q, %q", parent, last, test.parent, test.last)
			}
		})
	}
}

// myself is this test as a process that waits in a call.
func myself() *process {
	pid := unix.Gettid()
	return &process{pid: pid, dir: "/proc/" + strconv.Itoa(pid), root: &rootDir{fd: -1}}
}

// ends is what a name is known by that is followed to its end.
func ends(p *process, name string) ([]string, error) {
	t := &target{walk: walk{p: p, at: -1}, open: -1, held: -1, stand: -1}
	defer t.leave()
	parent, last := split(name)
	if err := t.start(unix.AT_FDCWD, parent); err != nil {
		return nil, err
	}
	t.last, t.slash = last, last != "" && strings.HasSuffix(name, "/")
	return t.ends(operand{follow: always}, true)
}

// The names that links multiply are given up, in bounded time.
func TestWalkIsBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("./", 1500)
	must(t, os.Symlink(long+long[:1000]+"proc", "a"))
	must(t, os.Symlink("/proc/self/cwd", "proc"))
	p := myself()
	defer p.root.forget()
	for _, name := range []string{
		strings.Repeat("proc/", 30) + "a/x", strings.Repeat("../"+strings.Repeat("./", 100), 10) + strings.Repeat("a/", 41),
	} {
		_, err := ends(p, name)
		if err == nil {
			t.Errorf("%.20s…: no error", name)
		}
	}
	w := walk{p: p, at: -1, steps: maxSteps}
	defer w.leave()
	if err := w.start(unix.AT_FDCWD, "proc/"); !errors.Is(err, errTooFar) {
		t.Errorf("got %v, want %v", err, errTooFar)
	}
}

// Components of the names that the fuzz test makes, over the workspace of layout.
var components = []string{
	".", "..", "", ".git", "hooks", "config", "sub", "deep", "up", "absolute", "alias", "chain", "loop", "nowhere",
	"slash", "out", "file", "missing", "proc", "self", "thread-self", "cwd", "root", "fd", "0", "tmp", "dev",
}

// FuzzWalk: a name leads where the kernel goes when this process opens it, in one step and by hand.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{"\x00", "\x06\x01\x0b", "\x02\x12\x13\x15\x10", "\x0f\x05", "\x09\x05", "\x02\x01\x1a\x17"} {
		f.Add([]byte(seed))
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	must(f, err)
	layout(f, base, shared)
	f.Chdir(base + "/seen")
	f.Fuzz(func(t *testing.T, picks []byte) {
		if len(picks) > 12 {
			t.Skip()
		}
		var words []string
		for _, pick := range picks {
			words = append(words, components[int(pick)%len(components)])
		}
		name := strings.Join(words, "/")
		if name == "" {
			t.Skip()
		}
		runtime.LockOSThread() // so that thread-self is the same to both
		defer runtime.UnlockOSThread()
		p := myself()
		defer p.root.forget()
		paths, err := ends(p, name)
		fd, want := unix.Open(name, placeOnly, 0)
		checkWalk(t, name, paths, err, fd, want)

		hand := walk{p: p, at: -1}
		defer hand.leave()
		if err := hand.start(unix.AT_FDCWD, ""); err != nil && name[0] != '/' {
			t.Fatal(err)
		}
		if err := hand.byHand(name); err == nil && want == nil {
			if got, _ := nameOf(hand.at); got != paths[len(paths)-1] {
				t.Errorf("%q by hand leads to %q, else to %q", name, got, paths)
			}
		}
	})
}

// checkWalk compares the end of a walk with what the kernel opened.
func checkWalk(t *testing.T, name string, paths []string, err error, fd int, want error) {
	t.Helper()
	if want == nil {
		defer unix.Close(fd)
		there, _ := nameOf(fd)
		if strings.HasPrefix(there, "/") && (err != nil || paths[len(paths)-1] != there) {
			t.Errorf("%q leads to %q, got %q, %v", name, there, paths, err)
		}
		return
	}
	if err != nil {
		if !errors.Is(err, want) {
			t.Errorf("%q fails with %v, got %v", name, want, err)
		}
		return
	}
	// The parent is there and the last component is not, or it cannot be entered.
	last := paths[len(paths)-1]
	if _, err := os.Lstat(last); want == unix.ENOENT && err == nil {
		t.Errorf("%q does not exist, got %q, which does", name, last)
	}
}
