package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is a file by path and numbers. A path that leads somewhere else by the time the sandbox is made fails.
type identity struct {
	path     string
	dev, ino uint64
}

func (id identity) args() []string {
	return []string{id.path, strconv.FormatUint(id.dev, 10), strconv.FormatUint(id.ino, 10)}
}

// identify looks at an absolute path without links.
func identify(path string) (identity, error) {
	if !filepath.IsAbs(path) {
		return identity{}, fmt.Errorf("%s is not absolute", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return identity{}, err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return identity{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return identity{path: real, dev: uint64(st.Dev), ino: st.Ino}, nil
}

// paths are those of identities.
func paths(ids []identity) []string {
	var all []string
	for _, id := range ids {
		all = append(all, id.path)
	}
	return all
}
