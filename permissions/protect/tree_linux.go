package protect

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

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
