package persist

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves the blocks of f from off to off+n and leaves its size unchanged.
func allocate(f *os.File, off, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			return errNoAllocate
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// startWriting has the kernel begin to write f to the disk. It waits for nothing.
func startWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // the sync that follows does it all
}
