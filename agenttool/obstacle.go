package agenttool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Obstacle says what keeps a directory from being made and written at an absolute path, and what to do about it: something on the way to it is
// a file, or a link that leads nowhere, or cannot be written. Empty: nothing that can be seen.
func Obstacle(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		entry, err := os.Lstat(at)
		if err != nil && at != filepath.Dir(at) {
			continue // missing, or below a file
		}
		if err != nil {
			return ""
		}
		target, err := os.Stat(at)
		const other = "or name another directory"
		switch {
		case err != nil && entry.Mode()&os.ModeSymlink != 0:
			return fmt.Sprintf("%s is a link that leads nowhere: remove it, %s", at, other)
		case err != nil:
			return ""
		case !target.IsDir():
			return fmt.Sprintf("%s is no directory: move it away, %s", at, other)
		}
		const write = 2
		switch err := syscall.Access(at, write); {
		case errors.Is(err, syscall.EROFS):
			return fmt.Sprintf("%s is on a file system that is read-only: %s", at, other[3:])
		case errors.Is(err, syscall.EACCES):
			return fmt.Sprintf("%s is not yours to write: make it writable, %s", at, other)
		}
		return ""
	}
}
