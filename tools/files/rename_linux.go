package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to in the open directory dir. It fails with EEXIST if to exists, and with EINVAL if the
// file system cannot check this atomically.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	for {
		if err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE); err != unix.EINTR {
			return err
		}
	}
}
