package files

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"toolhost/tools/workspace"
)

// openNameless opens a new file without a name in dir. It fails if the file system has no such files, or if the file
// could not be linked later.
func openNameless(dir *workspace.Dir, perm os.FileMode) (*os.File, error) {
	if err := unix.Access("/proc/self/fd", unix.X_OK); err != nil {
		return nil, err
	}
	return dir.Open(".", os.O_RDWR|unix.O_TMPFILE, perm)
}

// linkNameless links a nameless file as the name to, which must not exist.
func linkNameless(f, dir *os.File, to string) error {
	for {
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), int(dir.Fd()), to, unix.AT_SYMLINK_FOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "link", Path: to, Err: err}
		}
		return nil
	}
}
