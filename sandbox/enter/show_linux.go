package enter

import (
	"strconv"
	"syscall"
	"unsafe"
)

// answerTree passes the host a detached, writable copy of the file or directory at a path, if it has these numbers: path NUL dev NUL ino.
// Commands see only parts of the holder's view.
func answerTree(message string) {
	tree, errno := treeAt(fields(message))
	if errno != 0 {
		answer(errno, -1)
		return
	}
	answer(0, tree)
	syscall.Close(tree)
}

func treeAt(of [3]string) (tree int, errno syscall.Errno) {
	fd, errno := openSame(of[0], of[1], of[2])
	if errno != 0 {
		return -1, errno
	}
	defer syscall.Close(fd)
	if tree, errno = cloneTree(fd); errno != 0 {
		return -1, errno
	}
	if errno = setAttr(tree, attrNoSuid|attrNoDev, recursive); errno != 0 {
		syscall.Close(tree)
	}
	return tree, errno
}

// dropName removes a name that a helper has made in a place of the session: built NUL name. Mounts there are the helper's, which has ended.
func dropName(message string) {
	of := fields(message)
	dir, errno := writableCopy(of[0])
	if errno == 0 {
		if err := syscall.Unlinkat(dir, of[1]); err != nil {
			errno = removeDir(dir, of[1])
		}
		syscall.Close(dir)
	}
	answer(errno, -1)
}

func removeDir(dir int, name string) syscall.Errno {
	const removeDir = 0x200
	_, errno := at(syscall.SYS_UNLINKAT, dir, name, removeDir)
	return errno
}

// writableCopy is a detached copy of the mount at a path, in which names can be made and removed although the command cannot.
func writableCopy(path string) (int, syscall.Errno) {
	tree, errno := cloneAt(path)
	if errno != 0 {
		return -1, errno
	}
	attr := struct{ set, clear, propagation, userns uint64 }{clear: attrReadOnly, propagation: syscall.MS_PRIVATE}
	if _, errno = at(sysMountSetattr, tree, "", atEmpty, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)); errno != 0 {
		syscall.Close(tree)
		return -1, errno
	}
	return tree, 0
}

// showTree mounts what the holder has copied where the command has its path, and reports the result: path NUL place. Where the place, a
// directory in memory, has no such name, it gets one.
func showTree(message string, fds []int, errno syscall.Errno) {
	of := fields(message)
	if errno == 0 {
		errno = syscall.EBADMSG
	}
	if len(fds) == 1 {
		errno = mountNamed(of[0], of[1], fds[0])
	}
	for _, fd := range fds[min(len(fds), 1):] {
		syscall.Close(fd)
	}
	say(SaysLent, -1, strconv.Itoa(int(errno)))
}

func mountNamed(path, place string, tree int) syscall.Errno {
	if place != "" {
		if errno := makeName(path, place, tree); errno != 0 {
			syscall.Close(tree)
			return errno
		}
	}
	return attachAt(tree, path)
}

// makeName makes an empty file or directory at a path in a place.
func makeName(path, place string, like int) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Fstat(like, &st); err != nil {
		return syscall.EIO
	}
	dir, errno := writableCopy(place)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(dir)
	name, err := path[len(place)+1:], error(nil)
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		err = syscall.Mkdirat(dir, name, 0o755)
	} else {
		err = syscall.Mknodat(dir, name, syscall.S_IFREG|0o644, 0)
	}
	if errno, _ := err.(syscall.Errno); errno != syscall.EEXIST {
		return errno
	}
	return 0
}

// fields are the parts of a message, NUL between.
func fields(message string) (of [3]string) {
	for i := range of {
		end := index(message, 0)
		of[i], message = message[:end], message[min(end+1, len(message)):]
	}
	return of
}
