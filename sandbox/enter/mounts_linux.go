package enter

import (
	"strconv"
	"syscall"
)

// view builds what the command sees of the file system.
type view struct {
	held    map[string]int // trees by the path at which they were
	nothing [2]int         // trees of a file and of a directory that nobody can read
}

// step carries out one operation of mounts. ok is false if op is none.
func (v *view) step(s Step) (errno syscall.Errno, ok bool) {
	switch s.Op {
	case Hold:
		return v.hold(s.Args[0], s.Args[1], s.Args[2]), true
	case ReadOnly:
		return readOnly(), true
	case Devices:
		return v.devices(s.Args), true
	case Memory:
		return memory(s.Args[0], s.Args[1]), true
	case Folder:
		makeDirs(s.Args[0])
		return 0, true
	case Link:
		return link(s.Args[0], s.Args[1]), true
	case Place:
		return v.place(s.Args[0], s.Args[1], s.Args[2]), true
	case Pin:
		return covered(s.Args[0], func(at int) syscall.Errno { return cover(at, 0) }), true
	case Seal:
		return covered(s.Args[0], func(at int) syscall.Errno { return cover(at, attrReadOnly) }), true
	case Mask:
		errno := covered(s.Args[0], v.mask)
		if errno == syscall.EACCES && s.Args[1] != "" {
			errno = 0 // who cannot get there needs no mask, where nobody can change that
		}
		return errno, true
	case Lock:
		return lock(s.Args[0]), true
	case Proc:
		return proc(), true
	}
	return 0, false
}

// covered covers what is at path. What is not there needs no cover; any other failure is one.
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

// openAny is openSame by whatever links: the numbers are what counts.
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

// attachAt mounts tree over what is at path, and closes it.
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

// makeDirs makes a directory and what is above it. Errors show when it is used.
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

// mask covers a directory by an empty one, and anything else by an empty file, that nobody can open.
func (v *view) mask(at int) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Fstat(at, &st); err != nil {
		return syscall.EIO
	}
	kind := 0
	if st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		kind = 1
	}
	tree, errno := cloneTree(v.nothing[kind])
	if errno != 0 {
		return errno
	}
	defer syscall.Close(tree)
	return attach(tree, at)
}

// proc mounts a view of the sandbox's own processes. It is read-only: files below /proc/sys belong to the host's root, and
// a command of root needs no privilege to write them.
func proc() syscall.Errno {
	tree, errno := newMount("proc", "", attrReadOnly|attrNoSuid|attrNoDev|attrNoExec)
	if errno != 0 {
		return errno
	}
	return attachAt(tree, "/proc")
}

// devices mounts a /dev of its own: what every program expects, terminals of the sandbox only, and directories of
// memory, each NAME:OPTIONS.
func (v *view) devices(memories []string) syscall.Errno {
	nodes := []string{"null", "zero", "full", "random", "urandom", "tty"}
	trees := make([]int, len(nodes))
	for i, name := range nodes {
		var errno syscall.Errno
		if trees[i], errno = device("/dev/" + name); errno != 0 {
			return errno
		}
	}
	if console := console(); console >= 0 {
		nodes, trees = append(nodes, "console"), append(trees, console)
	}
	dev, errno := newMount("tmpfs", "mode=755,size=64k,nr_inodes=64", attrNoSuid|attrNoExec)
	if errno != 0 {
		return errno
	}
	if errno := attachAt(dev, "/dev"); errno != 0 {
		return errno
	}
	for i, name := range nodes {
		if errno := makeFile("/dev/" + name); errno != 0 {
			return errno
		}
		if errno := attachAt(trees[i], "/dev/"+name); errno != 0 {
			return errno
		}
	}
	if errno := terminals(); errno != 0 {
		return errno
	}
	for _, m := range memories {
		end := index(m, ':')
		_ = syscall.Mkdir("/dev/"+m[:end], 0o1777)
		if errno := memory("/dev/"+m[:end], m[min(len(m), end+1):]); errno != 0 {
			return errno
		}
	}
	if errno := v.makeNothing(); errno != 0 {
		return errno
	}
	return lock("/dev")
}

// device holds a device of the host. Nobody changes its mode.
func device(path string) (tree int, errno syscall.Errno) {
	fd, errno := open(path, oPath)
	if errno != 0 {
		return -1, errno
	}
	defer syscall.Close(fd)
	if tree, errno = cloneTree(fd); errno == 0 {
		errno = setAttr(tree, attrReadOnly|attrNoSuid|attrNoExec, 0)
	}
	return tree, errno
}

// console holds the terminal that stdin is, for which the sandbox has no name otherwise; -1 if it is none. Programs that ask for
// the name of their terminal look for one that is the same file.
func console() int {
	const terminalMajor = 136
	var is, named syscall.Stat_t
	if syscall.Fstat(0, &is) != nil || is.Mode&syscall.S_IFMT != syscall.S_IFCHR || is.Rdev>>8&0xfff != terminalMajor {
		return -1
	}
	name := "/dev/pts/" + strconv.Itoa(int(is.Rdev&0xff|is.Rdev>>12&0xfff00))
	if syscall.Lstat(name, &named) != nil || named.Dev != is.Dev || named.Ino != is.Ino || named.Rdev != is.Rdev {
		return -1
	}
	tree, errno := device(name)
	if errno != 0 {
		return -1
	}
	return tree
}

// terminals mounts pseudo-terminals that only this sandbox has, and the links that programs look for.
func terminals() syscall.Errno {
	pts, errno := newMount("devpts", "ptmxmode=0666,mode=0620", attrNoSuid|attrNoExec)
	if errno != 0 {
		return errno
	}
	_ = syscall.Mkdir("/dev/pts", 0o755)
	if errno := attachAt(pts, "/dev/pts"); errno != 0 {
		return errno
	}
	for _, link := range [][2]string{
		{"pts/ptmx", "/dev/ptmx"}, {"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"},
		{"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
	} {
		if err := syscall.Symlink(link[0], link[1]); err != nil {
			return err.(syscall.Errno)
		}
	}
	return 0
}

func makeFile(path string) syscall.Errno {
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err.(syscall.Errno)
	}
	syscall.Close(fd)
	return 0
}

// makeNothing makes and holds an empty file and an empty directory of mode 0. Their names have to stay: the kernel mounts
// nothing that was removed.
func (v *view) makeNothing() syscall.Errno {
	const file, dir = "/dev/.nothing", "/dev/.empty"
	if errno := makeFile(file); errno != 0 {
		return errno
	}
	if err := syscall.Mkdir(dir, 0); err != nil {
		return err.(syscall.Errno)
	}
	for i, path := range []string{file, dir} {
		fd, errno := open(path, oPath)
		if errno != 0 {
			return errno
		}
		v.nothing[i], errno = cloneTree(fd)
		syscall.Close(fd)
		if errno != 0 {
			return errno
		}
		if errno := setAttr(v.nothing[i], attrReadOnly|attrNoSuid|attrNoDev|attrNoExec, 0); errno != 0 {
			return errno
		}
	}
	return 0
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
