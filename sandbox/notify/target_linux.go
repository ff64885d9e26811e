package notify

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// target is the file of a call: a name in a directory that is held open, or an open file.
type target struct {
	walk          // at is the directory
	last   string // the name in it; "" where open is the object
	slash  bool   // a slash stands behind the name
	absent bool   // nothing had the name
	open   int    // the object, which no name leads to: behind a link of /proc, or the caller's descriptor; -1: none
	given  bool   // open is the caller's descriptor
	path   string // "" for a pipe and others that have none

	held int // the file that object opened; -1: not yet

	instead func() unix.Errno // does the call; nil: the kernel does it by the name
	stand   int               // the file that the caller gets in place of the one that has the name; -1: none
	made    bool              // instead has made the file
}

func (t *target) leave() {
	t.walk.leave()
	closeAll(t.open, t.held, t.stand)
	t.open, t.held, t.stand = -1, -1, -1
}

// inode is the inode of the open file, or of the name now; 0 if there is none.
func (t *target) inode() uint64 {
	var st unix.Stat_t
	if t.open >= 0 {
		_ = unix.Fstat(t.open, &st)
	} else {
		_ = unix.Fstatat(t.at, t.last, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	return st.Ino
}

// name is the last component as the kernel is to take it.
func (t *target) name() string {
	if t.slash {
		return t.last + "/"
	}
	return t.last
}

// object opens what is there as a place, a link itself if it is one. It stays open as long as t.
func (t *target) object() (int, error) {
	if t.open >= 0 {
		return t.open, nil
	}
	if t.held < 0 {
		fd, err := unix.Openat(t.at, t.last, placeOnly|unix.O_NOFOLLOW, 0)
		if err != nil {
			return -1, err
		}
		t.held = fd
	}
	return t.held, nil
}

// Dir is the directory, open as a place (O_PATH) until the judge has decided or redirects its name.
func (m Move) Dir() (int, error) { return m.from.object() }

// mode is the mode of the file, 0 if there is none.
func (t *target) mode() uint32 {
	var st unix.Stat_t
	var err error
	if t.open >= 0 {
		err = unix.Fstat(t.open, &st)
	} else {
		err = unix.Fstatat(t.at, t.last, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return 0
	}
	return st.Mode
}

// Mode is the type and mode of the file, of a link itself if it is one; 0 if there is none.
func (t Target) Mode() uint32 { return t.t.mode() }

// Absent reports whether nothing had the name when it was resolved: an open that makes a file there opens no other one.
func (t Target) Absent() bool { return t.t.absent }

// Links is how many names the file has; of a directory it is none.
func (t Target) Links() uint64 {
	fd, err := t.t.object()
	var st unix.Stat_t
	if err != nil || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return 0
	}
	return uint64(st.Nlink)
}

// Redirect has the call done to the same name in another directory, which is open as a place.
func (t Target) Redirect(dir int) error {
	fd, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		closeAll(t.t.held) // of the mount that it was found in
		t.t.held = -1
		t.t.move(fd)
	}
	return err
}

// At is the directory that has the name, open as a place, and the name in it. ok is false where no name leads to the file.
func (t Target) At() (dir int, name string, ok bool) {
	return t.t.at, t.t.last, t.t.open < 0 && t.t.last != ""
}

// HasSlash reports whether a slash stands behind the name: the kernel takes it for a directory alone.
func (t Target) HasSlash() bool { return t.t.slash }

// Parent opens the directory that has a path of the attempt, as a place.
func (t Target) Parent(of string) (int, error) {
	root, _, err := t.t.p.root.open(t.t.p)
	if err != nil {
		return -1, err
	}
	return unix.Openat2(root, path.Dir(of), &unix.OpenHow{
		Flags: placeOnly | unix.O_DIRECTORY, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

// Object is the file as a place, a link itself if it is one, for as long as the judge has the attempt.
func (t Target) Object() (int, error) { return t.t.object() }

// Instead has the allowed call done by act, which returns its result, while the thread has the caller's umask.
func (t Target) Instead(act func() unix.Errno) { t.t.instead = act }

// Give has the caller of an open get a file in place of the one that has the name; made says that the name is new. It takes over fd.
func (t Target) Give(fd int, made bool) { t.t.stand, t.t.made = fd, made }

// IsIn reports whether a directory, which is open as a place, is the one that has the file's name. Mounts do not count.
func (t Target) IsIn(dir int) bool {
	var ours, theirs unix.Stat_t
	return t.t.open < 0 && unix.Fstat(dir, &ours) == nil && unix.Fstat(t.t.at, &theirs) == nil && ours.Dev == theirs.Dev && ours.Ino == theirs.Ino
}

// Identity is the device and the inode of the file, of a link itself if it is one.
func (t Target) Identity() (dev, ino uint64, err error) {
	var st unix.Stat_t
	fd, err := t.t.object()
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	return st.Dev, st.Ino, err
}

// Read returns the content of a regular file of at most limit bytes.
func (t Target) Read(limit int) ([]byte, error) {
	if t.Mode()&unix.S_IFMT != unix.S_IFREG || t.t.open >= 0 {
		return nil, unix.EINVAL
	}
	fd, err := unix.Openat(t.t.at, t.t.last, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), t.Path)
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = unix.EFBIG
	}
	return content, err
}

// Place is the file, open as a place (O_PATH) until the judge has decided; a link itself if it is one. It fails if there is none.
func (t Target) Place() (int, error) { return t.t.object() }

// Covered reports whether something is mounted over the name, which cannot be removed then.
func (t Target) Covered() bool { return t.t.open < 0 && t.t.covered() }

// IsEmpty reports whether it is a directory without entries.
func (t Target) IsEmpty() bool {
	if t.t.open >= 0 {
		return false
	}
	fd, err := unix.Openat(t.t.at, t.t.last, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(fd), t.Path)
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return err == io.EOF
}

// Remove removes the name of a file.
func (t Target) Remove() error { return unix.Unlinkat(t.t.at, t.t.last, 0) }

// ReadOnly reports whether its mount is read-only.
func (t Target) ReadOnly() bool {
	at := t.t.open
	if at < 0 {
		at = t.t.at
	}
	var fs unix.Statfs_t
	return unix.Fstatfs(at, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}

// findPath says where an open object lies.
func (t *target) findPath() (err error) {
	if t.path, err = nameOf(t.open); err != nil {
		return err
	}
	memory := strings.HasPrefix(t.path, "/memfd:") && strings.HasSuffix(t.path, " (deleted)")
	if memory || !strings.HasPrefix(t.path, "/") {
		t.path = ""
	}
	return nil
}

// splitPlace cuts "." or ".." off the end of a name that gives a directory by its place. Of the root it leaves "/".
func splitPlace(name string) (parent, last string) {
	bare := strings.TrimRight(name, "/")
	if bare == "" {
		return "/", "/"
	}
	cut := strings.LastIndexByte(bare, '/') + 1
	return bare[:cut], bare[cut:]
}

func closeAll(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// atProc is a path to an open file of this thread.
func atProc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func (t *target) kindOf(fd int) uint32 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Mode & unix.S_IFMT
}
