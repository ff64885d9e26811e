package files

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve allocates space for size bytes of f without changing its size. It does nothing if the file system does not
// support that.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}
