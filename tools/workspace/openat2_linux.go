package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// pathOnly opens a path without access to its content.
const pathOnly = unix.O_PATH

// openat2 opens name without following links; with beneath, the kernel confines it below dirfd.
func openat2(dirfd int, name string, flags int, beneath bool) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if beneath {
		how.Resolve |= unix.RESOLVE_BENEATH
	}
	return unix.Openat2(dirfd, name, &how)
}

// inMemory returns a file that holds a text and has no name.
func inMemory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("view", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, wrap("open", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(text)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
