package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxLinks is the number of symbolic links that one resolution follows, as in the kernel.
const maxLinks = 40

// withoutLinks is resolve for the common case of an existing path without links, which the kernel checks in one call.
// Only then does cleaning the path, including "..", not change its meaning.
func withoutLinks(path string) (string, error) {
	fd, err := openat2(unix.AT_FDCWD, path, unix.O_PATH, false)
	if err != nil {
		return "", err
	}
	return filepath.Clean(path), unix.Close(fd)
}

// resolve follows every link of the absolute path, as the kernel would, and returns a clean path without links. From
// the first missing name on, names are kept; so they are below a file, where nothing can be opened.
func (v view) resolve(path string) (string, error) {
	resolved, links := "/", 0
	pending := strings.Split(path, "/")
	for len(pending) > 0 {
		name := pending[0]
		pending = pending[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			resolved = v.up(resolved)
			continue
		}
		next := filepath.Join(resolved, name)
		if elsewhere, ok := v.shown[next]; ok {
			resolved = elsewhere
			continue
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, os.ErrNotExist) && v.leads(next):
			resolved = next
			continue
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			if slices.Contains(pending, "..") {
				return "", &os.PathError{Op: "resolve", Path: path, Err: syscall.ENOENT}
			}
			return filepath.Join(next, filepath.Join(pending...)), nil
		case err != nil:
			return "", err
		case info.Mode()&os.ModeSymlink == 0:
			resolved = next
			continue
		}
		if links++; links > maxLinks {
			return "", &os.PathError{Op: "resolve", Path: path, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			resolved = "/"
		}
		pending = append(strings.Split(target, "/"), pending...)
	}
	return resolved, nil
}
