package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replace puts content in the place of a file, which keeps its mode. A new file has the given one.
func replace(path string, content []byte, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it fails after the rename
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// makeDirs makes a directory with those above it, and returns those that are new, the deepest first.
func makeDirs(dir string, mode fs.FileMode) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	return made, os.MkdirAll(dir, mode)
}
