package files

import (
	"bytes"
	"errors"
	"maps"
	"strings"

	"golang.org/x/sys/unix"
)

// keepXattrs gives the file to exactly the extended attributes of the file from, including access control lists.
func keepXattrs(to, from int) error {
	want, err := xattrs(from)
	if err != nil {
		return err
	}
	have, err := xattrs(to)
	if err != nil {
		return err
	}
	for name := range have {
		if _, wanted := want[name]; !wanted { // inherited from the directory
			if err := unix.Fremovexattr(to, name); err != nil {
				return err
			}
		}
	}
	maps.DeleteFunc(want, func(name string, value []byte) bool {
		other, ok := have[name]
		return ok && bytes.Equal(value, other)
	})
	for name, value := range want {
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			return err
		}
	}
	return nil
}

// xattrs returns the extended attributes of an open file; a file system without them has none.
func xattrs(fd int) (map[string][]byte, error) {
	list, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	found := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		value, err := grow(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
		if err != nil {
			return nil, err
		}
		found[name] = value
	}
	return found, nil
}

// grow calls get with increasing buffers, up to Linux's limit of 64 KiB, until the answer fits.
func grow(get func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := get(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<18 {
			return nil, err
		}
	}
}
