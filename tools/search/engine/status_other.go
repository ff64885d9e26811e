//go:build !linux || !(amd64 || arm64)

package engine

import (
	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
)

// path is empty where the ordinary system call is used.
type path struct{}

func (path) stat(root int, f *tree.File, st *unix.Stat_t) error {
	return unix.Fstatat(root, f.Path(), st, unix.AT_SYMLINK_NOFOLLOW)
}
