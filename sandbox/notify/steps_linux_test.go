package notify

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// child does steps, on the confined thread, with its working directory in the workspace.
type child struct {
	dir string
}

const creating = unix.O_CREAT | unix.O_WRONLY

// do does one step: a call and its arguments, separated by blanks. "@name" stands for a descriptor of that name,
// opened for reading, and $ for the workspace.
func (c *child) do(step string) error {
	words := strings.Fields(strings.ReplaceAll(step, "$", c.dir))
	switch verb := words[0]; verb {
	case "spin":
		return c.spin(words[1], words[2])
	case "race":
		return c.race(words[1], words[2])
	case "gone":
		return c.gone(words[1])
	case "ownCwd":
		return c.ownCwd()
	default:
		var fds []int
		for i, word := range words[1:] {
			name, ok := strings.CutPrefix(word, "@")
			if !ok {
				continue
			}
			fd, err := unix.Open(name, unix.O_RDONLY, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			fds = append(fds, fd)
			words[i+1] = strconv.Itoa(fd)
		}
		if do, ok := connectVerbs[verb]; ok {
			return do(fds, words[1:])
		}
		if do, ok := actVerbs[verb]; ok {
			return do(fds, words[1:])
		}
		return verbs[verb](fds, words[1:])
	}
}

// verbs are what steps may begin with.
var verbs = map[string]func(fds []int, words []string) error{
	"open":     func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], creating) },
	"nofollow": func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], creating|unix.O_NOFOLLOW) },
	"excl":     func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], creating|unix.O_EXCL) },
	"read":     func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], unix.O_RDONLY) },
	"write":    func(_ []int, w []string) error { return open(unix.AT_FDCWD, w[0], unix.O_WRONLY) },
	"openat":   func(fds []int, w []string) error { return open(fds[0], w[1], creating) },
	"procfd": func(fds []int, w []string) error {
		return open(unix.AT_FDCWD, w[1]+"/"+w[0], unix.O_WRONLY)
	},
	"procfdcreate": func(fds []int, w []string) error {
		return open(unix.AT_FDCWD, w[1]+"/"+w[0]+"/"+w[2], creating)
	},
	"highdir": func(_ []int, w []string) error {
		name, _ := unix.BytePtrFromString(w[0])
		return rawOpen(0xdead_beef<<32|0xffff_ff9c, unsafe.Pointer(name))
	},
	"pageend":   func(_ []int, w []string) error { return atPageEnd(w[0]) },
	"pageopen":  func(_ []int, w []string) error { return atPageEnd(strings.Repeat("./", 3000) + w[0]) },
	"nowhere":   func([]int, []string) error { return atPageEnd("") },
	"long":      func([]int, []string) error { return open(unix.AT_FDCWD, strings.Repeat("x/", 3000), creating) },
	"longname":  func([]int, []string) error { return open(unix.AT_FDCWD, strings.Repeat("x", 256), creating) },
	"mkdir":     func(_ []int, w []string) error { return unix.Mkdir(w[0], 0o755) },
	"rename":    func(_ []int, w []string) error { return unix.Rename(w[0], w[1]) },
	"exchange":  func(_ []int, w []string) error { return exchange(w[0], w[1]) },
	"link":      func(_ []int, w []string) error { return unix.Link(w[0], w[1]) },
	"symlink":   func(_ []int, w []string) error { return unix.Symlink(w[0], w[1]) },
	"unlink":    func(_ []int, w []string) error { return unix.Unlink(w[0]) },
	"fifo":      func(_ []int, w []string) error { return unix.Mknod(w[0], unix.S_IFIFO|0o644, 0) },
	"truncate":  func(_ []int, w []string) error { return unix.Truncate(w[0], 0) },
	"chmod":     func(_ []int, w []string) error { return unix.Chmod(w[0], 0o600) },
	"fchmod":    func(fds []int, _ []string) error { return unix.Fchmod(fds[0], 0o600) },
	"setxattr":  func(_ []int, w []string) error { return unix.Setxattr(w[0], "user.x", nil, 0) },
	"fsetxattr": func(fds []int, _ []string) error { return unix.Fsetxattr(fds[0], "user.x", nil, 0) },
	"futimens":  func(fds []int, _ []string) error { return futimens(fds[0]) },
	"fchown": func(fds []int, _ []string) error {
		return unix.Fchownat(fds[0], "", -1, -1, unix.AT_EMPTY_PATH)
	},
	"lutimes": func(_ []int, w []string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, w[0], make([]unix.Timespec, 2), unix.AT_SYMLINK_NOFOLLOW)
	},
	"adopt": func(_ []int, w []string) error { return adopt(w[0]) },
	"pipe":  func([]int, []string) error { return reopenPipe() },
	"badfd": func(_ []int, w []string) error { return open(999, w[0], creating) },
}

func open(dir int, name string, flags int) error {
	fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0o644)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func rawOpen(dir uint64, name unsafe.Pointer) error {
	fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(name), creating, 0o644, 0, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// atPageEnd puts the name so that the byte after its zero is not there; an empty one is not there itself.
func atPageEnd(name string) error {
	size := (len(name)/4096 + 1) * 4096
	memory, err := unix.Mmap(-1, 0, size+4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(memory)
	if err := unix.Mprotect(memory[size:], unix.PROT_NONE); err != nil {
		return err
	}
	at := size - len(name) - 1
	if name == "" {
		at = size
	}
	copy(memory[at:], name)
	return rawOpen(uint64(0xffff_ff9c), unsafe.Pointer(&memory[at]))
}

func exchange(one, other string) error {
	return unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
}

func futimens(fd int) error {
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// adopt gives a nameless file a name.
func adopt(name string) error {
	fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	return unix.Linkat(unix.AT_FDCWD, self, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

func reopenPipe() error {
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		return err
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	return open(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fds[1]), unix.O_WRONLY)
}

// gone opens a name from a directory that is removed.
func (c *child) gone(name string) error {
	if err := unix.Mkdir("sub/gone", 0o755); err != nil {
		return err
	}
	if err := unix.Chdir("sub/gone"); err != nil {
		return err
	}
	defer unix.Chdir(c.dir)
	if err := unix.Rmdir(c.dir + "/sub/gone"); err != nil {
		return err
	}
	return open(unix.AT_FDCWD, name, creating)
}

// ownCwd gives the thread a working directory that the rest of the process does not have.
func (c *child) ownCwd() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	if err := unix.Chdir(".git"); err != nil {
		return err
	}
	defer unix.Chdir(c.dir)
	return open(unix.AT_FDCWD, "hooks/pre-commit", creating)
}

// spin opens a name for writing again and again; the time is left in the file "time".
func (c *child) spin(times, name string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	began := time.Now()
	for range n {
		if err := open(unix.AT_FDCWD, name, unix.O_WRONLY); err != nil {
			return err
		}
	}
	return os.WriteFile("time", fmt.Append(nil, time.Since(began).Nanoseconds()), 0o644)
}

// race opens a name while another thread keeps rewriting it.
func (c *child) race(one, other string) error {
	buf := make([]byte, 64)
	copy(buf, one)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		runtime.LockOSThread()
		for {
			select {
			case <-stop:
				return
			default:
				copy(buf, other+"\x00")
				copy(buf, one+"\x00")
			}
		}
	}()
	for range 300 {
		_ = rawOpen(0xffff_ff9c, unsafe.Pointer(&buf[0]))
	}
	close(stop)
	<-stopped
	return nil
}
