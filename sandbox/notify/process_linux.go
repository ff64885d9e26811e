package notify

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// process is a thread that waits in a call, read through its memory and its directory in the host's /proc.
type process struct {
	pid  int
	dir  string // "/proc/PID"
	root *rootDir

	valid func() bool // whether it still waits; nil: for ever
	known *status     // nil: not read yet
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

// status is the content of /proc/PID/status of a process.
type status struct {
	tgid  string // the number of the process that the thread belongs to
	inner string // the same as the process itself knows it
	umask int    // -1: unknown
}

// status reads it, once.
func (p *process) status() (*status, error) {
	if p.known != nil {
		return p.known, nil
	}
	text, err := os.ReadFile(p.dir + "/status")
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	s := &status{umask: -1}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); key {
		case "Umask":
			if mask, err := strconv.ParseUint(value, 8, 32); err == nil {
				s.umask = int(mask)
			}
		case "Tgid":
			s.tgid = value
		case "NStgid":
			s.inner = value[strings.LastIndexByte(value, '\t')+1:]
		}
	}
	if s.tgid == "" {
		return nil, unix.ESRCH
	}
	p.known = s
	return s, nil
}

func (p *process) tgid() (string, error) {
	s, err := p.status()
	if err != nil {
		return "", err
	}
	return s.tgid, nil
}

// leader is the number of the process that the task belongs to.
func (p *process) leader() (int, error) {
	tgid, err := p.tgid()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(tgid)
}

func (p *process) umask() (int, error) {
	s, err := p.status()
	if err == nil && s.umask < 0 {
		err = unix.ENOSYS // a kernel before 4.7
	}
	if err != nil {
		return 0, err
	}
	return s.umask, nil
}

// rootDir is the root that all tasks of the filter share, opened at the first name that starts there.
type rootDir struct {
	mu   sync.Mutex
	fd   int // -1: not yet
	name string
}

// open returns the root. If the process waits no more, the root may belong to another process.
func (r *rootDir) open(p *process) (fd int, name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd >= 0 {
		return r.fd, r.name, nil
	}
	if fd, err = unix.Open(p.dir+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return -1, "", err
	}
	if name, err = nameOf(fd); err == nil && p.valid != nil && !p.valid() {
		err = unix.ESRCH
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, "", err
	}
	r.fd, r.name = fd, name
	return fd, name, nil
}

func (r *rootDir) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
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
