package protect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// tree holds the roots open and finds names below them through file descriptors, even if the names above change meanwhile. It opens
// no link and follows none on the way.
type tree struct {
	roots []string // absolute, clean; none lies in another
	fds   []int
	far   func(file string) bool // whether a lookup outside the roots may wait for another machine; nil: none does
	short error                  // the first shortage of the machine: what could not be opened for it is no answer
}

// noted remembers an error that is a shortage, and returns it.
func (t *tree) noted(err error) error {
	if err != nil && t.short == nil && agenttool.IsShortage(err) {
		t.short = err
	}
	return err
}

// openTree opens the roots. A root that is missing, no directory, relative or reached through a link is an error.
func openTree(roots []string) (*tree, error) {
	t := &tree{}
	for _, root := range Outermost(roots) {
		fd, err := -1, error(nil)
		if path.IsAbs(root) {
			fd, err = openRoot(root)
		} else {
			err = errors.New("it must be an absolute path")
		}
		if err != nil {
			t.close()
			return nil, fmt.Errorf("open root %s: %w", root, err)
		}
		t.roots, t.fds = append(t.roots, root), append(t.fds, fd)
	}
	return t, nil
}

// cleaned returns the roots without trailing slashes and doubles, sorted, so that a root comes before those inside it.
func cleaned(roots []string) []string {
	var kept []string
	for _, root := range roots {
		kept = append(kept, path.Clean(root))
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// Outermost returns the clean roots without those that lie in others.
func Outermost(roots []string) []string {
	kept := cleaned(roots)
	return slices.DeleteFunc(slices.Clone(kept), func(root string) bool {
		return slices.ContainsFunc(kept, func(other string) bool { return other != root && agenttool.Within(other, root) })
	})
}

func (t *tree) close() {
	for _, fd := range t.fds {
		unix.Close(fd)
	}
}

// root returns the root that holds the path, "" for none.
func (t *tree) root(file string) string { return rootOf(t.roots, file) }

func rootOf(roots []string, file string) string {
	for _, root := range roots {
		if agenttool.Within(root, file) {
			return root
		}
	}
	return ""
}

// below returns the path relative to its root, "." for the root itself.
func below(root, file string) string {
	if file == root {
		return "."
	}
	return strings.TrimPrefix(file[len(root):], "/")
}

// open opens the path in its root and never blocks, whatever the file type.
func (t *tree) open(file string, flags int) (int, error) {
	i := slices.Index(t.roots, t.root(file))
	if i < 0 {
		return -1, unix.EXDEV
	}
	fd, err := openBeneath(t.fds[i], below(t.roots[i], file),
		flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	return fd, t.noted(err)
}

// openStepwise is openBeneath for kernels that cannot do it in one call: each component by itself, no links.
func openStepwise(dir int, rel string, flags int) (int, error) {
	fd, owned := dir, false
	components := strings.Split(rel, "/")
	for i, component := range components {
		step := flags
		if i < len(components)-1 {
			step = searchOnly | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		}
		next, err := -1, error(unix.EXDEV)
		if component != ".." {
			next, err = retry(func() (int, error) { return unix.Openat(fd, component, step, 0) })
		}
		if owned {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, owned = next, true
	}
	return fd, nil
}

// lstat returns the state of the path, in its root.
func (t *tree) lstat(file string) (stat unix.Stat_t, err error) {
	dir, name := t.split(file)
	fd, err := t.open(dir, searchOnly|unix.O_DIRECTORY)
	if err != nil {
		return stat, err
	}
	defer unix.Close(fd)
	err = statAt(fd, name, &stat)
	return stat, err
}

// split is path.Split, but the root itself is "." in the root.
func (t *tree) split(file string) (dir, name string) {
	if slices.Contains(t.roots, file) {
		return file, "."
	}
	return path.Dir(file), path.Base(file)
}

func statAt(fd int, name string, stat *unix.Stat_t) error {
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(fd, name, stat, unix.AT_SYMLINK_NOFOLLOW) })
	return err
}

// readlink returns the text of the link at the path.
func (t *tree) readlink(file string) (string, error) {
	dir, name := t.split(file)
	fd, err := t.open(dir, searchOnly|unix.O_DIRECTORY)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return readlinkAt(fd, name)
}

func readlinkAt(fd int, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, name, buf)
	return string(buf[:max(n, 0)]), err
}

// read returns the beginning of the regular file at the path, in its root or, if it lies in none, wherever it is.
func (t *tree) read(file string, limit int) ([]byte, error) {
	fd, err := -1, error(nil)
	if t.root(file) != "" {
		fd, err = t.open(file, unix.O_RDONLY)
	} else {
		fd, err = unix.Open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if t.noted(err) != nil {
		return nil, err
	}
	content, err := readRegular(fd, limit)
	return content, t.noted(err)
}

// readRegular reads the beginning of a regular file, refuses all else, and closes it. It stays below package os, which
// would ask the poller about each file.
func readRegular(fd, limit int) ([]byte, error) {
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	if kindOf(&stat) != File {
		return nil, unix.EINVAL
	}
	content := make([]byte, 0, min(int64(limit), stat.Size+512))
	for len(content) < limit {
		content = slices.Grow(content, 512)
		n, err := retry(func() (int, error) { return unix.Read(fd, content[len(content):min(cap(content), limit)]) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		content = content[:len(content)+n]
	}
	return content, nil
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (t *tree) stampOf(file string, whole bool) stamp {
	s := stamp{path: file}
	var stat unix.Stat_t
	var err error
	if t.root(file) != "" {
		stat, err = t.lstat(file)
	} else {
		err = unix.Lstat(file, &stat)
	}
	if err != nil {
		return s
	}
	s.kind, s.id = kindOf(&stat), identityOf(&stat)
	if whole {
		s.ctime = stat.Ctim
	}
	return s
}

// searchOnly opens a file without access to its content.
const searchOnly = unix.O_PATH

func openRoot(root string) (int, error) {
	flags := unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := openat2(unix.AT_FDCWD, root, flags, 0)
	if refused(err) {
		return unix.Open(root, flags, 0)
	}
	return fd, err
}

// openBeneath opens rel below the directory without following a link.
func openBeneath(dir int, rel string, flags int) (int, error) {
	fd, err := openat2(dir, rel, flags, unix.RESOLVE_BENEATH)
	if refused(err) {
		return openStepwise(dir, rel, flags)
	}
	return fd, err
}

func openat2(dir int, name string, flags int, resolve uint64) (int, error) {
	if flags&unix.O_PATH != 0 {
		flags &= unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC // it refuses all others
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolve | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	return retry(func() (int, error) { return unix.Openat2(dir, name, &how) })
}

// refused says whether openat2 is not to be had: an old kernel, or a filter of system calls in the way.
func refused(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }

// direntHeader is the size of linux_dirent64 before its name: inode, offset, record length, type.
const direntHeader = 19

// list calls yield for each name in the open directory, until it returns false. It reads raw entries: the type comes
// with the name, and nothing is sorted or kept.
func list(fd int, buf []byte, yield func(name []byte, kind Kind) bool) error {
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, buf) })
		if n <= 0 || err != nil {
			return err
		}
		for rest := buf[:n]; len(rest) > direntHeader; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size <= direntHeader || size > len(rest) {
				return unix.EIO
			}
			name := rest[direntHeader:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if string(name) != "." && string(name) != ".." && !yield(name, direntKind(rest[18])) {
				return nil
			}
			rest = rest[size:]
		}
	}
}

func direntKind(kind byte) Kind {
	switch kind {
	case unix.DT_REG:
		return File
	case unix.DT_DIR:
		return Dir
	case unix.DT_LNK:
		return Symlink
	case unix.DT_UNKNOWN:
		return Absent
	}
	return Other
}

// renameAside renames within the directory, never over another name.
func renameAside(dir int, from, to string) error {
	return unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
}
