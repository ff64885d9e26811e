package enter

import (
	"strconv"
	"syscall"
	"unsafe"
)

// lent is a directory of the host in which the host makes single names for the command, and where these appear in its view.
type lent struct {
	tree int // the directory, writable, where no name leads: another mount covers it
	seen int // where the command sees the directory, writable, if it is a file system of the sandbox's own; -1: it sees the host's
}

// lendPlace is where the trees of lent directories are mounted before another file system covers them.
const lendPlace = "/dev/shm"

// holdLent keeps the tree at path, if that is still what it was when the plan was made, for names that are made in it later.
func (v *view) holdLent(path, dev, ino string) syscall.Errno {
	fd, errno := openSame(path, dev, ino)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	tree, errno := cloneTree(fd)
	if errno != 0 {
		return errno
	}
	if v.lent == nil {
		v.lent = map[string]lent{}
	}
	v.lent[path] = lent{tree, -1}
	return setAttr(tree, attrNoSuid|attrNoDev, recursive)
}

// mountLent mounts the lent trees, once everything is read-only: an older kernel copies no part of a tree that is not mounted.
func (v *view) mountLent() syscall.Errno {
	to, errno := open(lendPlace, oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(to)
	for _, l := range v.lent {
		if errno := attach(l.tree, to); errno != 0 {
			return errno
		}
	}
	return 0
}

// offerPlace keeps the place where the command sees a lent directory, before it becomes read-only.
func (v *view) offerPlace(path string) syscall.Errno {
	at, errno := open(path, oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(at)
	seen, errno := cloneTree(at)
	if errno == 0 {
		v.lent[path] = lent{v.lent[path].tree, seen}
	}
	return errno
}

// lend shows a name that the host has made in a lent directory, and reports the result.
func (v *view) lend(path string) {
	say(SaysLent, -1, strconv.Itoa(int(v.show(path))))
}

// takeBack takes a name that the host has removed out of a place of the sandbox's own, and reports the result. From the host's own
// directory the kernel has taken it, with the mount.
func (v *view) takeBack(message string) {
	of, errno := fields(message), syscall.Errno(0)
	path, place := of[0], of[1]
	if place != "" {
		dir := -1
		if dir, errno = writableCopy(place); errno == 0 {
			errno = uncover(path, dir, path[len(place)+1:])
			syscall.Close(dir)
		}
	} else if dir, ok := v.lent[parent(path)]; ok && dir.seen >= 0 {
		errno = uncover(path, dir.seen, lastOf(path))
	}
	say(SaysLent, -1, strconv.Itoa(int(errno)))
}

// uncover removes the mount at a path, and the name that it covers in a directory of the sandbox's own.
func uncover(path string, dir int, name string) syscall.Errno {
	const noFollow = 8
	if err := syscall.Unmount(path, syscall.MNT_DETACH|noFollow); err != nil {
		return err.(syscall.Errno)
	}
	if syscall.Unlinkat(dir, name) == nil {
		return 0
	}
	return removeDir(dir, name)
}

// lastOf is the last name of a path.
func lastOf(path string) string {
	name := path[len(parent(path)):]
	for name[0] == '/' {
		name = name[1:]
	}
	return name
}

func (v *view) show(path string) syscall.Errno {
	dir, ok := v.lent[parent(path)]
	if !ok {
		return syscall.EINVAL
	}
	name := lastOf(path)
	fd, errno := openIn(dir.tree, name)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return syscall.EIO
	}
	tree, errno := cloneTree(fd)
	if errno != 0 {
		return errno
	}
	switch kind := st.Mode & syscall.S_IFMT; {
	case kind != syscall.S_IFDIR && kind != syscall.S_IFREG:
		syscall.Close(tree)
		return syscall.EINVAL
	case dir.seen < 0:
	case kind == syscall.S_IFDIR:
		_ = syscall.Mkdirat(dir.seen, name, 0o755) // errors show when it is used
	default:
		_ = syscall.Mknodat(dir.seen, name, syscall.S_IFREG|0o644, 0)
	}
	return attachAt(tree, path)
}

// openIn opens an entry of a directory as a place, and no link.
func openIn(dir int, name string) (int, syscall.Errno) {
	const beneath = 8
	how := struct{ flags, mode, resolve uint64 }{uint64(oPath | syscall.O_NOFOLLOW | syscall.O_CLOEXEC), 0, noSymlinks | noMagicLinks | beneath}
	return at(sysOpenat2, dir, name, uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
}
