package engine

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/search/tree"
)

// maxOpen is the number of directories that a worker keeps open.
const maxOpen = 16

// dirs caches the open parent directories of the current file. Files come in path order, so parents are used again.
type dirs struct {
	tree  *tree.Tree
	open  []openDir
	short error // a directory could not be opened because the machine is short of a resource
}

type openDir struct {
	dir *tree.Dir
	fd  int
	err error
}

// fd returns a descriptor of d, which stays open until the next call at least.
func (o *dirs) fd(d *tree.Dir) (int, error) {
	for i := len(o.open) - 1; i >= 0; i-- {
		top := o.open[i]
		if top.dir == d {
			return top.fd, top.err
		}
		if strings.HasPrefix(d.Path, top.dir.Path) {
			break
		}
		o.close(i)
	}
	if len(o.open) == maxOpen {
		o.close(0)
	}
	fd, err := o.tree.Open(d)
	if err != nil && agenttool.IsShortage(err) {
		o.short = err
	}
	o.open = append(o.open, openDir{d, fd, err})
	return fd, err
}

// close closes the directory i.
func (o *dirs) close(i int) {
	if o.open[i].err == nil {
		_ = unix.Close(o.open[i].fd)
	}
	o.open = append(o.open[:i], o.open[i+1:]...)
}

// closeAll closes all directories.
func (o *dirs) closeAll() {
	for len(o.open) > 0 {
		o.close(len(o.open) - 1)
	}
}

// openFile opens a regular file without following a link or waiting for anything, and fills in its status.
func openFile(dir int, name string, st *unix.Stat_t) (fd int, err error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	for range 100 { // interrupted by a signal
		if fd, err = unix.Openat(dir, name, flags, 0); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return -1, err
	}
	if err = unix.Fstat(fd, st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errSpecial
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
