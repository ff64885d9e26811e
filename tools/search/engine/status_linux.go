//go:build linux && (amd64 || arm64)

package engine

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
)

// path is the path of the current file as a C string, so that a call allocates nothing. The directory part is kept
// for the next file.
type path struct {
	dir  *tree.Dir
	text [unix.PathMax + unix.NAME_MAX + 1]byte
}

func (p *path) stat(root int, f *tree.File, st *unix.Stat_t) error {
	if len(f.Dir.Path)+len(f.Name) >= len(p.text) {
		return unix.ENAMETOOLONG
	}
	if p.dir != f.Dir {
		copy(p.text[:], f.Dir.Path)
		p.dir = f.Dir
	}
	n := len(f.Dir.Path)
	p.text[n+copy(p.text[n:], f.Name)] = 0
	_, _, failed := syscall.Syscall6(unix.SYS_NEWFSTATAT, uintptr(root), uintptr(unsafe.Pointer(&p.text)), uintptr(unsafe.Pointer(st)),
		unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	if failed != 0 {
		return failed
	}
	return nil
}
