package notify

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is a thread that waits in a call, read through its memory and its directory in the host's /proc.
type process struct {
	pid  int
	dir  string // "/proc/PID"
	root *rootDir
}

// names resolves one operand of a call.
func (p *process) names(o operand, args *[6]uint64) ([]string, error) {
	dir := unix.AT_FDCWD
	if o.dir != none {
		dir = int(int32(args[o.dir]))
	}
	if o.path == none || args[o.path] == 0 && o.dir != none { // utimensat takes a missing name so
		return p.object(dir)
	}
	name, err := p.text(args[o.path])
	switch {
	case err != nil:
		return nil, err
	case name == "" && o.mayBeEmpty(args):
		return p.object(dir)
	case name == "":
		return nil, unix.ENOENT
	}
	w := walk{p: p, at: -1}
	defer w.leave()
	return w.names(dir, name, o.follows(args))
}

// object returns the path of what a descriptor refers to; pipes and sockets have none.
func (p *process) object(fd int) ([]string, error) {
	text, err := os.Readlink(p.entry(fd))
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !strings.HasPrefix(text, "/") {
		return nil, nil
	}
	return []string{text}, nil
}

// entry is the magic link in /proc that leads to a descriptor of the process, or to its working directory.
func (p *process) entry(fd int) string {
	if fd == unix.AT_FDCWD {
		return p.dir + "/cwd"
	}
	return p.dir + "/fd/" + strconv.Itoa(fd)
}

// pageSize is a divisor of every page size in use. Memory is read up to its multiples, so that a name that ends just
// before an unmapped page is read whole.
const pageSize = 4096

// maxName is PATH_MAX: the kernel takes no longer name, its zero included.
const maxName = 4096

// text reads a name out of the process's memory.
func (p *process) text(address uint64) (string, error) {
	if runtime.GOARCH == "arm64" {
		address &= 1<<56 - 1 // the top byte is the program's to use
	}
	var buf [maxName]byte
	for got := 0; got < maxName; {
		from := address + uint64(got)
		want := min(maxName-got, int(pageSize-from%pageSize))
		n, err := p.read(buf[got:got+want], from)
		if err != nil {
			return "", err
		}
		if end := bytes.IndexByte(buf[got:got+n], 0); end >= 0 {
			return string(buf[:got+end]), nil
		}
		if n < want {
			return "", unix.EFAULT
		}
		got += n
	}
	return "", unix.ENAMETOOLONG
}

func (p *process) read(into []byte, from uint64) (int, error) {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	remote := []unix.RemoteIovec{{Base: uintptr(from), Len: len(into)}}
	return unix.ProcessVMReadv(p.pid, local, remote, 0)
}

// tgid returns the number of the process that the thread belongs to.
func (p *process) tgid() (string, error) {
	status, err := os.ReadFile(p.dir + "/status")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "Tgid:"); ok {
			return strings.TrimSpace(value), nil
		}
	}
	return "", unix.ESRCH
}

// rootDir is the root that all tasks of the filter share, opened at the first name that starts there.
type rootDir struct {
	fd   int // -1: not yet
	name string
}

func (r *rootDir) open(p *process) error {
	if r.fd >= 0 {
		return nil
	}
	fd, err := unix.Open(p.dir+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if r.name, err = nameOf(fd); err != nil {
		_ = unix.Close(fd)
		return err
	}
	r.fd = fd
	return nil
}

func (r *rootDir) forget() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
}

// nameOf returns the path of an open place in its own mount namespace.
func nameOf(fd int) (string, error) {
	var buf [maxName]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
