package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// removal is an existing path outside of the roots that the decision named as written. It is a mount in the command's view, and the kernel
// removes no name that the caller's namespace has a mount at. The supervisor removes this very name in the host's directory.
type removal struct {
	path string
	dir  *os.File // the host's directory that path is in, as a place
	file fileID   // the file at path when the command began
}

type fileID struct{ dev, ino uint64 }

// removalsIn are the files and directories outside of the roots that a profile lets a command write.
func removalsIn(v *view, p Profile) (removals []removal) {
	for _, path := range p.Write {
		path = filepath.Clean(path)
		if !filepath.IsAbs(path) || path == "/" || v.inRoot(path) || v.isHidden(path) || isReplaced(v, path) {
			continue
		}
		fd, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err != nil {
			continue
		}
		r := removal{path: path, dir: os.NewFile(uintptr(fd), filepath.Dir(path))}
		var kind uint32
		if r.file, kind = r.now(); kind != unix.S_IFREG && kind != unix.S_IFDIR {
			r.dir.Close()
			continue
		}
		removals = append(removals, r)
	}
	return removals
}

// now is the file that the host has at the path, and its type; a type of 0 means that it has none.
func (r removal) now() (fileID, uint32) {
	var st unix.Stat_t
	if unix.Fstatat(int(r.dir.Fd()), filepath.Base(r.path), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return fileID{}, 0
	}
	return fileID{uint64(st.Dev), st.Ino}, st.Mode & unix.S_IFMT
}
