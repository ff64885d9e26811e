package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames from to to in the open directory dir. It fails with EEXIST when to exists, and with EINVAL where the
// file system cannot tell that at the moment of the rename.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	for {
		if err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE); err != unix.EINTR {
			return err
		}
	}
}
