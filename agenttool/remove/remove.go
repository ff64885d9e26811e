// Package remove removes trees that have directories without permissions.
package remove

import (
	"errors"
	"io/fs"
	"os"
)

// All is [os.RemoveAll] that also removes directories of the user that lack permissions, such as those of Go's module cache and the
// work directories of overlays. It follows no link.
func All(dir string) error {
	failed := os.RemoveAll(dir)
	if failed == nil {
		return nil
	}
	if at, err := os.Lstat(dir); err == nil && at.IsDir() && at.Mode().Perm()&0o500 != 0o500 {
		_ = os.Chmod(dir, 0o700)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errors.Join(failed, err)
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = root.Chmod(path, 0o700) // before the walk reads it; RemoveAll says what could not be removed
		}
		return nil
	})
	return os.RemoveAll(dir)
}
