//go:build !linux || portable

package tree

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// batch is the number of names read at a time.
const batch = 4096

// openBeneath opens rel below the directory root; no link is followed on the way.
func openBeneath(root int, rel string, flags int) (fd int, err error) {
	return openStepwise(root, rel, flags)
}

// readNames passes each name of the open directory fd except "." and ".." to add until add returns false. The bytes
// are valid only during the call.
func readNames(fd int, _ []byte, add func(name []byte, ino uint64, kind Kind) bool) error {
	twin, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(twin), "")
	defer dir.Close()
	var lost error
	for {
		names, err := dir.Readdirnames(batch)
		for _, name := range names {
			ino, kind, err := inspect(fd, name)
			if err != nil {
				lost = err
			} else if !add([]byte(name), ino, kind) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return lost
		}
		if err != nil {
			return err
		}
	}
}
