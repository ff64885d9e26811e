//go:build !linux

package files

import (
	"os"
	"syscall"
)

// renameNew works only on Linux: elsewhere a new file is linked into place.
func renameNew(*os.File, string, string) error { return syscall.ENOSYS }
