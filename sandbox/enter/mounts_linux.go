package enter

import (
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// view builds what the command sees of the file system.
type view struct {
	held    map[string]int // trees by their original path
	nothing [2]int         // descriptors of emptyFile and emptyDir, as soon as they are needed; 0 is none
	likes   int            // a descriptor of the file system at likesDir, likewise
	liked   int            // how many files are in it
	proc    int            // a descriptor of a writable /proc that has no name; 0 is none
	lent    map[string]lent
}

// step carries out one operation of mounts. ok is false if op is none.
func (v *view) step(s Step) (errno syscall.Errno, ok bool) {
	switch s.Op {
	case Hold:
		return v.hold(s.Args[0], s.Args[1], s.Args[2]), true
	case ReadOnly:
		return readOnly(), true
	case Devices:
		return devices(number(s.Args[0])), true
	case Terminals:
		return terminals(), true
	case Show:
		return show(s.Args[0], s.Args[1]), true
	case Memory:
		return memory(s.Args[0], s.Args[1]), true
	case Folder:
		makeDirs(s.Args[0])
		return 0, true
	case Link:
		return link(s.Args[0], s.Args[1]), true
	case Place:
		return v.place(s.Args[0], s.Args[1], s.Args[2]), true
	case Overlay:
		return overlay(s.Args[0], s.Args[1], s.Args[2], s.Args[3:]), true
	case Pin:
		return covered(s.Args[0], func(at int) syscall.Errno { return cover(at, 0) }), true
	case Seal:
		return covered(s.Args[0], func(at int) syscall.Errno { return cover(at, attrReadOnly) }), true
	case Mask, MaskAs:
		errno := covered(s.Args[0], func(at int) syscall.Errno { return v.mask(at, s.Op == MaskAs) })
		if errno == syscall.EACCES && s.Args[1] != "" {
			errno = 0 // a path that the command cannot reach, and cannot make reachable, needs no mask
		}
		return errno, true
	case Open:
		return reopen(s.Args[0]), true
	case Lend:
		return v.holdLent(s.Args[0], s.Args[1], s.Args[2]), true
	case LendUp:
		return v.mountLent(), true
	case LendAt:
		return v.offerPlace(s.Args[0]), true
	case Lock:
		return lock(s.Args[0]), true
	case Proc:
		return v.mountProc(), true
	case Withhold:
		const detach = 2
		built := worldMemory
		if s.Args[0] == "processes" {
			built = worldProc
		}
		errno, _ := syscall.Unmount(built, detach).(syscall.Errno)
		if errno == syscall.EINVAL { // the session has none
			errno = 0
		}
		return errno, true
	case Share:
		errno := show(worldMemory, "/dev/shm")
		if errno == 0 {
			errno = reopen("/dev/shm")
		}
		return errno, true
	}
	return 0, false
}

// covered covers the entry at path. A missing entry needs no cover; any other failure is an error.
func covered(path string, cover func(at int) syscall.Errno) syscall.Errno {
	at, errno := open(path, oPath|syscall.O_NOFOLLOW)
	if errno == syscall.ENOENT {
		return 0
	}
	if errno != 0 {
		return errno
	}
	defer syscall.Close(at)
	return cover(at)
}

// hold keeps the tree at path, if that is still what it was when the plan was made.
func (v *view) hold(path, dev, ino string) syscall.Errno {
	fd, errno := openSame(path, dev, ino)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	tree, errno := cloneTree(fd)
	if errno == 0 {
		v.held[path] = tree
	}
	return errno
}

// openSame opens what is at path if it has these numbers. ESTALE means that it is something else.
func openSame(path, dev, ino string) (int, syscall.Errno) {
	fd, errno := open(path, oPath)
	if errno != 0 {
		return -1, errno
	}
	return same(fd, dev, ino)
}

// openAny is openSame but follows links: only device and inode are compared.
func openAny(path, dev, ino string) (int, syscall.Errno) {
	fd, err := syscall.Open(path, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, err.(syscall.Errno)
	}
	return same(fd, dev, ino)
}

// same returns fd if it has these numbers, and closes it otherwise.
func same(fd int, dev, ino string) (int, syscall.Errno) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil ||
		strconv.FormatUint(uint64(st.Dev), 10) != dev || strconv.FormatUint(st.Ino, 10) != ino {
		syscall.Close(fd)
		return -1, syscall.ESTALE
	}
	return fd, 0
}

// readOnly takes the right to write from everything that is mounted.
func readOnly() syscall.Errno {
	fd, errno := open("/", oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	return setAttr(fd, attrReadOnly|attrNoSuid, recursive)
}

// memory mounts an empty file system over a directory.
func memory(path, options string) syscall.Errno {
	tree, errno := newMount("tmpfs", options, attrNoSuid|attrNoDev)
	if errno != 0 {
		return errno
	}
	return attachAt(tree, path)
}

// attachAt mounts tree at path, and closes it.
func attachAt(tree int, path string) syscall.Errno {
	defer syscall.Close(tree)
	to, errno := open(path, oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(to)
	return attach(tree, to)
}

// place mounts a tree that was held. Its name is made if it is missing, which can only be in a file system that is the
// sandbox's own: all else is read-only by now.
func (v *view) place(path, to, mode string) syscall.Errno {
	tree, ok := v.held[path]
	if !ok {
		return syscall.EINVAL
	}
	attrs := uint64(attrNoSuid | attrNoDev)
	if mode == "ro" {
		attrs |= attrReadOnly
	}
	delete(v.held, path)
	if errno := setAttr(tree, attrs, recursive); errno != 0 {
		return errno
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(tree, &st); err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		makeDirs(to)
	} else {
		makeDirs(parent(to))
		_ = makeFile(to) // it may be there
	}
	return attachAt(tree, to)
}

// link makes a symbolic link where there is nothing.
func link(path, target string) syscall.Errno {
	makeDirs(parent(path))
	errno, _ := syscall.Symlink(target, path).(syscall.Errno)
	if errno == syscall.EEXIST {
		return 0
	}
	return errno
}

// parent is the directory that holds an absolute path.
func parent(path string) string {
	for end := len(path) - 1; end > 0; end-- {
		if path[end] == '/' {
			return path[:end]
		}
	}
	return "/"
}

// makeDirs makes a directory and its parents. Errors show when it is used.
func makeDirs(path string) {
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			_ = syscall.Mkdir(path[:i], 0o755)
		}
	}
}

// cover mounts what at is over itself, so that it can neither be renamed nor removed, with attributes.
func cover(at int, attrs uint64) syscall.Errno {
	tree, errno := cloneTree(at)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(tree)
	if attrs != 0 {
		if errno := setAttr(tree, attrs, recursive); errno != 0 {
			return errno
		}
	}
	return attach(tree, at)
}

// mask covers a directory by an empty one, and any other entry by an empty file; neither can be opened. alike has a regular file keep its size
// and its time.
func (v *view) mask(at int, alike bool) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Fstat(at, &st); err != nil {
		return syscall.EIO
	}
	if alike && st.Mode&syscall.S_IFMT == syscall.S_IFREG && v.liked < maxLikes {
		if tree, errno := v.like(&st); errno == 0 {
			defer syscall.Close(tree)
			return attach(tree, at)
		}
	}
	kind := 0
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		kind = 1
	}
	if v.nothing[kind] == 0 {
		fd, errno := open([...]string{emptyFile, emptyDir}[kind], oPath)
		if errno != 0 {
			return errno
		}
		v.nothing[kind] = fd
	}
	tree, errno := cloneTree(v.nothing[kind])
	if errno != 0 {
		return errno
	}
	defer syscall.Close(tree)
	return attach(tree, at)
}

// maxLikes bounds the files that look like others.
const maxLikes = 500

// like returns a detached mount of a new file that cannot be opened, with the size and the time of another one.
func (v *view) like(st *syscall.Stat_t) (tree int, errno syscall.Errno) {
	if v.likes == 0 {
		fd, errno := newMount("tmpfs", "mode=0700", attrReadOnly|attrNoSuid|attrNoDev|attrNoExec)
		if errno != 0 {
			return -1, errno
		}
		if errno := covered(likesDir, func(at int) syscall.Errno { return attach(fd, at) }); errno != 0 { // the kernel clones nothing that is not there
			syscall.Close(fd)
			return -1, errno
		}
		v.likes = fd
	}
	if errno := changeAttr(v.likes, 0, attrReadOnly, 0); errno != 0 {
		return -1, errno
	}
	defer setAttr(v.likes, attrReadOnly, 0)
	v.liked++
	name := strconv.Itoa(v.liked)
	file, err := syscall.Openat(v.likes, name, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, err.(syscall.Errno)
	}
	defer syscall.Close(file)
	if err := syscall.Ftruncate(file, st.Size); err != nil {
		return -1, err.(syscall.Errno)
	}
	times := [2]syscall.Timespec{st.Mtim, st.Mtim}
	_, _, errno = syscall.Syscall6(syscall.SYS_UTIMENSAT, uintptr(file), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	runtime.KeepAlive(&times)
	if errno != 0 {
		return -1, errno
	}
	place, err := syscall.Openat(v.likes, name, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, err.(syscall.Errno)
	}
	defer syscall.Close(place)
	if tree, errno = cloneTree(place); errno == 0 {
		errno = setAttr(tree, attrReadOnly|attrNoSuid|attrNoDev|attrNoExec, 0)
	}
	return tree, errno
}

// mountProc mounts a view of the sandbox's own processes. It is read-only: files below /proc/sys belong to the host's root, and
// a command of root needs no privilege to write them. The helper keeps a writable one for itself, to set priorities. In the session's world,
// where the holder has passed it one, the command sees the session's.
func (v *view) mountProc() syscall.Errno {
	if v.proc != 0 {
		return show(worldProc, "/proc")
	}
	tree, errno := newMount("proc", "", attrReadOnly|attrNoSuid|attrNoDev|attrNoExec)
	if errno != 0 {
		return errno
	}
	if own, errno := newMount("proc", "", attrNoSuid|attrNoDev|attrNoExec); errno == 0 {
		v.proc = own
	}
	return attachAt(tree, "/proc")
}

// lock makes the mount at path itself read-only, and none below it. Device files can be written all the same.
func lock(path string) syscall.Errno {
	fd, errno := open(path, oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	return setAttr(fd, attrReadOnly, 0)
}

// reopen takes the read-only attribute from the mounts at and below path.
func reopen(path string) syscall.Errno {
	fd, errno := open(path, oPath)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(fd)
	return changeAttr(fd, 0, attrReadOnly, recursive)
}
