package notify

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// actTests are calls that a judge allows, in an order in which each finds what the ones before it left.
var actTests = []string{
	"umask 027", "mkdir m", "openmode new 666 w", "openmode new 600 wce", "openmode new2 6777 wc", "mkdir m", "mkdir m/", "mkdir m2/", "mkdir .", "mkdir ..",
	"mkdir /", "mkdir no/such", "mkdir file/x", "umask 0", "mkdir all", "openmode all/f 666 wc", "umask 022", "fifo all/p", "fifo all/p",
	"flags all/f a", "flags all/f n", "flags all/f d", "flags all/f t", "flags all/f e", "flags all r",
	"openmode sub/ 600 wc", "openmode sub 600 w", "openmode sub/ 600 w", "openmode file/ 600 w", "openmode file/ 600 wc", "openmode missing/ 600 w",
	"openmode . 600 w", "openmode / 600 w", "openmode .. 600 rc", "openmode sub 600 wcD", "openmode no 600 w",
	"nofollow alias", "excl alias", "open alias", "open loop", "open nowhere", "symlink all/f l1", "open l1", "nofollow l1", "excl l1",
	"symlink hanging l2", "open l2", "symlink l2 l2", "symlink x l3/", "symlink x all/", "symlink x /", "mkdir l1", "mkdir l4/../x",
	"nameless all 644", "nameless all/ 644", "nameless all/f 644", "adopt adopted", "adopt adopted",
	"rename new renamed", "rename renamed renamed", "rename renamed all", "rename all renamed", "rename all/ all2/", "rename renamed x/",
	"rename all2 all2/in", "rename . x", "rename all2 ..", "rename l1 l5", "rename l5/ l6", "exchange renamed all2", "exchange renamed missing",
	"noreplace all2 renamed", "noreplace all2 all3", "flagged renamed x", "rename all3 sub/deep",
	"link file hard", "link file hard", "link alias hard2", "link sub hard3", "link missing x", "link file sub/", "linkfollow alias hard4", "linkflags file x",
	"linkempty @file hard5",
	"unlink hard", "unlink hard", "unlink sub", "unlink hard2/", "unlink .", "unlink /", "unlink l5", "rmdir sub", "rmdir file", "rmdir .", "rmdir ..",
	"rmdir /", "rmdir m2/", "rmdir m", "rmdir m", "unlinkflags file",
	"truncate file", "extend file 100", "extend file -1", "extend sub 1", "extend missing 1", "extend alias 5", "extend file 4096",
	"chmod file", "chmod alias", "chmod sub/", "chmod file/", "fchmod @file", "setxattr file", "fsetxattr @file", "futimens @file", "fchown @file",
	"lutimes alias", "setxattr alias", "chmodat file 100", "socketpair bound", "socket bound2",
}

// What a supervisor does is what the kernel does when it is not asked.
func TestActsAsTheKernel(t *testing.T) {
	allow := func(Attempt) Verdict { return Allow }
	want := actsOf(t, start(t, native, allow), nil)
	for _, mode := range []string{shared, separate} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, mode, allow)
			actsOf(t, s, want)
		})
	}
}

// acted is what came of the steps: error numbers, and the tree that they left.
type acted struct {
	errnos []unix.Errno
	tree   string
}

func actsOf(t *testing.T, s *supervised, want *acted) *acted {
	t.Helper()
	defer s.end()
	var got acted
	for i, step := range actTests {
		errno, _ := s.do(step)
		got.errnos = append(got.errnos, errno)
		if want != nil && errno != want.errnos[i] && !strings.HasPrefix(step, "socket") {
			t.Errorf("%s: %v (%d), want %v", step, errno, errno, want.errnos[i])
		}
		if errno == unix.EDOM {
			t.Errorf("%s: not what it asked for", step)
		}
	}
	got.tree = treeOf(t, s)
	if want != nil && got.tree != want.tree {
		t.Errorf("left\n%s\nwant\n%s", got.tree, want.tree)
	}
	return &got
}

// treeOf describes a workspace, seen from the host.
func treeOf(t *testing.T, s *supervised) string {
	t.Helper()
	dir := s.dir
	if _, err := os.Lstat(dir + "/file"); err != nil {
		dir = filepath.Dir(dir) + "/real"
	}
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		if info.Mode()&fs.ModeSocket != 0 { // only where there is a supervisor's judge for it
			return nil
		}
		fmt.Fprintf(&b, "%s %v", strings.TrimPrefix(path, dir), info.Mode())
		if d.IsDir() { // a step took the right to enter it away, also from an ordinary user who runs this test
			must(t, os.Chmod(path, 0o700))
		}
		if info.Mode().IsRegular() {
			fmt.Fprintf(&b, " %d bytes, %d names", info.Size(), st.Nlink)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ := os.Readlink(path)
			b.WriteString(" " + strings.ReplaceAll(to, filepath.Dir(dir), ""))
		}
		b.WriteString("\n")
		return nil
	})
	must(t, err)
	return b.String()
}

// Modes and flags as steps name them.
var openLetters = map[rune]int{
	'r': unix.O_RDONLY, 'w': unix.O_WRONLY, 'c': unix.O_CREAT, 'e': unix.O_EXCL, 'D': unix.O_DIRECTORY,
}

func openFlags(letters string) (flags int) {
	for _, letter := range letters {
		flags |= openLetters[letter]
	}
	return flags
}

func octal(text string) uint32 {
	n, _ := strconv.ParseUint(text, 8, 32)
	return uint32(n)
}

// actVerbs are steps besides verbs.
var actVerbs = map[string]func(fds []int, words []string) error{
	"umask": func(_ []int, w []string) error { unix.Umask(int(octal(w[0]))); return nil },
	"openmode": func(_ []int, w []string) error {
		fd, err := unix.Open(w[0], openFlags(w[2])|unix.O_CLOEXEC, octal(w[1])&^unix.S_ISUID)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"flags": func(_ []int, w []string) error { return checkFlags(w[0], w[1]) },
	"nameless": func(_ []int, w []string) error {
		fd, err := unix.Open(w[0], unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, octal(w[1]))
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"noreplace": func(_ []int, w []string) error {
		return unix.Renameat2(unix.AT_FDCWD, w[0], unix.AT_FDCWD, w[1], unix.RENAME_NOREPLACE)
	},
	"flagged":     func(_ []int, w []string) error { return unix.Renameat2(unix.AT_FDCWD, w[0], unix.AT_FDCWD, w[1], 64) },
	"linkfollow":  func(_ []int, w []string) error { return unix.Linkat(-100, w[0], -100, w[1], unix.AT_SYMLINK_FOLLOW) },
	"linkflags":   func(_ []int, w []string) error { return unix.Linkat(-100, w[0], -100, w[1], 64) },
	"linkempty":   linkEmpty,
	"rmdir":       func(_ []int, w []string) error { return unix.Rmdir(w[0]) },
	"unlinkflags": func(_ []int, w []string) error { return unix.Unlinkat(-100, w[0], 64) },
	"extend": func(_ []int, w []string) error {
		size, _ := strconv.ParseInt(w[1], 10, 64)
		return unix.Truncate(w[0], size)
	},
	"chmodat":    func(_ []int, w []string) error { return unix.Fchmodat(-100, w[0], octal(w[1]), 0) },
	"socketpair": func(_ []int, w []string) error { return bindOne(w[0], true) },
	"socket":     func(_ []int, w []string) error { return bindOne(w[0], false) },
	"writer":     func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], unix.O_WRONLY) },
}

// linkEmpty gives an open file a name by its descriptor alone. The kernel may want a capability for it.
func linkEmpty(fds []int, w []string) error {
	if err := unix.Linkat(fds[0], "", -100, w[0], unix.AT_EMPTY_PATH); err != nil && err != unix.ENOENT {
		return err
	}
	_ = unix.Unlink(w[0])
	return nil
}

// checkFlags opens a file and fails with EDOM if the descriptor is not as it was asked for.
func checkFlags(name, kind string) error {
	flags, onExec := 0, 0
	switch kind {
	case "a":
		flags = unix.O_WRONLY | unix.O_APPEND
	case "n":
		flags = unix.O_RDWR | unix.O_NONBLOCK
	case "d":
		flags = unix.O_RDWR | unix.O_SYNC
	case "t":
		flags = unix.O_RDWR | unix.O_TRUNC
	case "e":
		flags, onExec = unix.O_WRONLY|unix.O_CLOEXEC, unix.FD_CLOEXEC
	}
	fd, err := unix.Open(name, flags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const shown = unix.O_ACCMODE | unix.O_APPEND | unix.O_NONBLOCK | unix.O_SYNC | unix.O_DIRECT | unix.O_NOATIME
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	closes, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil {
		return err
	}
	if got&shown != flags&shown || closes != onExec {
		return unix.EDOM
	}
	return nil
}

// bindOne gives a socket, or one of a pair, a name.
func bindOne(name string, pair bool) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeAll(fds[0], fds[1])
	if pair {
		return unix.Bind(fds[0], &unix.SockaddrUnix{Name: name})
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeAll(fd)
	return unix.Bind(fd, &unix.SockaddrUnix{Name: name})
}

// An open that waits for the reader of a pipe does not keep other calls waiting, and is done when the reader comes.
func TestOpenWaitsForTheReader(t *testing.T) {
	s := start(t, shared, continues)
	defer s.end()
	if errno, _ := s.do("fifo sub/pipe"); errno != 0 {
		t.Fatal(errno)
	}
	s.send("writer sub/pipe")
	other := start(t, shared, continues) // another caller of another filter goes on meanwhile
	if errno, _ := other.do("write file"); errno != 0 {
		t.Error(errno)
	}
	other.end()
	fd, err := unix.Open(s.dir+"/sub/pipe", unix.O_RDONLY, 0) // returns when there is a writer
	must(t, err)
	defer closeAll(fd)
	if errno := s.result(); errno != 0 {
		t.Errorf("got %v", errno)
	}
}

// Whoever waits for ever does not keep a listener from ending.
func TestWaitingOpenIsGivenUp(t *testing.T) {
	fds := 0
	for i := range 2 { // the first opens what the runtime keeps
		if i == 1 {
			fds = openFDs(t)
		}
		s := start(t, shared, continues)
		if errno, _ := s.do("fifo sub/pipe"); errno != 0 {
			t.Fatal(errno)
		}
		s.send("writer sub/pipe")
		for s.listener.judges.Room.waits.count() == 0 {
			unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
		}
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		<-s.listener.done
		must(t, s.listener.Close())
		unix.Close(s.socket)
	}
	if got := openFDs(t); got > fds {
		t.Errorf("%d descriptors, %d before", got, fds)
	}
}

func (ws *waits) count() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.waiting)
}
