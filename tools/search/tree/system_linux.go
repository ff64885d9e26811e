package tree

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Layout of struct linux_dirent64.
const (
	recordSize = 16 // where the record's size is
	recordType = 18
	recordName = 19
)

// openBeneath opens rel below the directory root; no link is followed on the way.
func openBeneath(root int, rel string, flags int) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	err = retry(func() error {
		fd, err = unix.Openat2(root, rel, &how)
		return err
	})
	if unsupported(err) {
		return openStepwise(root, rel, flags)
	}
	return fd, err
}

// readNames passes each name of the open directory fd except "." and ".." to add until add returns false. add must not keep the name.
func readNames(fd int, buf []byte, add func(name []byte, ino uint64, kind Kind) bool) error {
	for {
		var n int
		err := retry(func() (err error) {
			n, err = unix.Getdents(fd, buf)
			return err
		})
		if err != nil || n <= 0 {
			return err
		}
		for b := buf[:n]; len(b) > recordName; {
			size := int(binary.NativeEndian.Uint16(b[recordSize:]))
			if size <= recordName || size > len(b) {
				return unix.EIO
			}
			name, _, _ := bytes.Cut(b[recordName:size], []byte{0})
			ino := binary.NativeEndian.Uint64(b)
			kind := kindOf(fd, name, b[recordType])
			b = b[size:]
			if string(name) != "." && string(name) != ".." && !add(name, ino, kind) {
				return nil
			}
		}
	}
}

// kindOf returns the kind of name in the directory fd, whose record has the type t.
func kindOf(fd int, name []byte, t byte) Kind {
	switch t {
	case unix.DT_REG:
		return Regular
	case unix.DT_DIR:
		return directory
	case unix.DT_LNK:
		return Link
	case unix.DT_UNKNOWN: // some file systems do not report types; a name without a status cannot be opened either
		_, kind, _ := inspect(fd, string(name))
		return kind
	}
	return Special
}
