package settings

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// createNameless creates a file without a name in a directory. It fails where the file system has no such files, and where it could not be
// named later.
func createNameless(dir string) (*os.File, error) {
	if err := unix.Access("/proc/self/fd", unix.X_OK); err != nil {
		return nil, err
	}
	return os.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE|unix.O_CLOEXEC, privateFile)
}

// nameFile gives a file of createNameless its name, which must be free.
func nameFile(f *os.File, name string) error {
	if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}
