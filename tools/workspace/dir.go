package workspace

import (
	"cmp"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. Its methods act on names in it, of one component each, and follow no link. The zero Dir
// stands for the top of the file system, only in beneath.
type Dir struct{ f *os.File }

// Close closes the directory.
func (d *Dir) Close() { d.f.Close() }

// File returns the directory for reading its entries and for locks.
func (d *Dir) File() *os.File { return d.f }

// Open opens name, which must not be a link, with flags; perm applies if the flags create it.
func (d *Dir) Open(name string, flags int, perm os.FileMode) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd(), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, uint32(perm))
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// OpenDir opens the directory name, which must not be a link.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	f, err := d.Open(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &Dir{f: f}, nil
}

// Lstat returns the raw status of name itself.
func (d *Dir) Lstat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return st, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	return st, nil
}

// Readlink returns the target of the link name.
func (d *Dir) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd(), name, buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

// Mkdir makes the directory name.
func (d *Dir) Mkdir(name string, perm os.FileMode) error {
	return wrap("mkdir", name, unix.Mkdirat(d.fd(), name, uint32(perm)))
}

// RenameFrom renames the file from in dir to to in this directory, replacing an existing file.
func (d *Dir) RenameFrom(dir *os.File, from, to string) error {
	return wrap("rename", to, unix.Renameat(int(dir.Fd()), from, d.fd(), to))
}

// Link links the file from as to, which must not exist.
func (d *Dir) Link(from, to string) error {
	return wrap("link", to, unix.Linkat(d.fd(), from, d.fd(), to, 0))
}

// Remove removes the file name.
func (d *Dir) Remove(name string) error {
	return wrap("remove", name, unix.Unlinkat(d.fd(), name, 0))
}

func (d *Dir) fd() int {
	if d.f == nil {
		return unix.AT_FDCWD
	}
	return int(d.f.Fd())
}

// beneath opens rel, which must not contain "..", below d without following a link.
func (d *Dir) beneath(rel string, flags int) (*os.File, error) {
	defer runtime.KeepAlive(d) // another call may open its root again meanwhile, see root.directory
	fd, err := retry(func() (int, error) { return openat2(d.fd(), rel, flags, d.f != nil) })
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) {
		return d.stepwise(rel, flags)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: rel, Err: err}
	}
	return os.NewFile(uintptr(fd), rel), nil
}

// stepwise is beneath for kernels without openat2: it opens one component at a time.
func (d *Dir) stepwise(rel string, flags int) (*os.File, error) {
	names := strings.Split(rel, "/")
	at := d
	if names[0] == "" { // an absolute path
		f, err := os.Open("/")
		if err != nil {
			return nil, err
		}
		at, names = &Dir{f: f}, names[1:]
		defer f.Close()
	}
	for len(names) > 1 {
		next, err := at.OpenDir(names[0])
		if err != nil {
			return nil, err
		}
		defer next.Close()
		at, names = next, names[1:]
	}
	names[0] = cmp.Or(names[0], ".")
	return at.Open(names[0], flags, 0)
}

// retry repeats a call that was interrupted by a signal or a concurrent rename.
func retry(open func() (int, error)) (fd int, err error) {
	for range 100 {
		if fd, err = open(); !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) {
			return fd, err
		}
	}
	return fd, err
}

func wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: err}
}

// openat2 opens name without following links; with beneath, the kernel confines it below dirfd.
func openat2(dirfd int, name string, flags int, beneath bool) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if beneath {
		how.Resolve |= unix.RESOLVE_BENEATH
	}
	return unix.Openat2(dirfd, name, &how)
}
