package tree

import "golang.org/x/sys/unix"

// inspect returns the inode number and kind of name in the directory fd.
func inspect(fd int, name string) (ino uint64, kind Kind, err error) {
	st, err := statusAt(fd, name)
	if err != nil {
		return 0, Special, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		kind = Regular
	case unix.S_IFDIR:
		kind = directory
	case unix.S_IFLNK:
		kind = Link
	default:
		kind = Special
	}
	return st.Ino, kind, nil
}
