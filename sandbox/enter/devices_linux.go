package enter

import (
	"strconv"
	"syscall"
)

// The names of the sandbox's own in its /dev.
const (
	emptyFile = "/dev/.nothing" // of mode 0, as is the next
	emptyDir  = "/dev/.empty"
	likesDir  = "/dev/.masks" // where a helper has files in memory that look like those that they mask
)

// devices mounts a /dev with the devices that every program expects, and with empty directories for the session's mounts. Every helper
// of the session gets a copy, and mounts its own parts over it. It is not locked yet.
func devices(count int) syscall.Errno {
	nodes := []string{"null", "zero", "full", "random", "urandom", "tty"}
	trees := make([]int, len(nodes))
	for i, name := range nodes {
		var errno syscall.Errno
		if trees[i], errno = device("/dev/" + name); errno != 0 {
			return errno
		}
	}
	shared := []string{"pts", "shm"} // helpers cover them when they have taken what they need
	hosts := [2]int{-1, -1}
	for i, name := range shared {
		if tree, errno := cloneAt("/dev/" + name); errno == 0 {
			hosts[i] = tree
		}
	}
	if errno := memory("/dev", "mode=755,size=64k,nr_inodes=1k"); errno != 0 {
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
	for i, name := range shared {
		if err := syscall.Mkdir("/dev/"+name, 0o755); err != nil {
			return err.(syscall.Errno)
		}
		if hosts[i] < 0 {
			continue
		}
		if errno := attachAt(hosts[i], "/dev/"+name); errno != 0 {
			return errno
		}
	}
	for i := range count {
		makeDirs(BuildPlace(i))
	}
	makeDirs(worldProc)
	makeDirs(worldMemory)
	return furnish()
}

// furnish makes the names in /dev that are no devices.
func furnish() syscall.Errno {
	for _, link := range [][2]string{
		{"pts/ptmx", "/dev/ptmx"}, {"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"},
		{"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"},
	} {
		if err := syscall.Symlink(link[0], link[1]); err != nil {
			return err.(syscall.Errno)
		}
	}
	for _, name := range []string{terminalName, emptyFile} {
		if errno := makeFile(name); errno != 0 {
			return errno
		}
	}
	for _, dir := range []string{emptyDir, likesDir} {
		if err := syscall.Mkdir(dir, 0); err != nil {
			return err.(syscall.Errno)
		}
	}
	for _, path := range []string{emptyFile, emptyDir} { // their names have to stay: the kernel mounts nothing that was removed
		errno := covered(path, func(at int) syscall.Errno {
			return cover(at, attrReadOnly|attrNoSuid|attrNoDev|attrNoExec)
		})
		if errno != 0 {
			return errno
		}
	}
	return 0
}

// device holds a device of the host, whose mode cannot be changed through it.
func device(path string) (tree int, errno syscall.Errno) {
	if tree, errno = cloneAt(path); errno == 0 {
		errno = setAttr(tree, attrReadOnly|attrNoSuid|attrNoExec, 0)
	}
	return tree, errno
}

// cloneAt returns a detached copy of the mounts at and below path.
func cloneAt(path string) (tree int, errno syscall.Errno) {
	fd, errno := open(path, oPath)
	if errno != 0 {
		return -1, errno
	}
	defer syscall.Close(fd)
	return cloneTree(fd)
}

// show moves what the session has built to where the command sees it.
func show(built, path string) syscall.Errno {
	from, errno := open(built, oPath)
	if errno != 0 {
		return errno
	}
	return attachAt(from, path)
}

// terminalName is the name of the terminal that stdin is, an empty file where it is none.
const terminalName = "/dev/.terminal"

// terminal holds the terminal at stdin, so that it has a name in the sandbox; -1 if stdin is no terminal. Programs that ask for
// the name of their terminal look for one that is the same file.
func terminal() int {
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

// terminals mounts pseudo-terminals that only this sandbox has, over those of the host.
func terminals() syscall.Errno {
	tree := terminal()
	pts, errno := newMount("devpts", "ptmxmode=0666,mode=0620", attrNoSuid|attrNoExec)
	if errno != 0 {
		return errno
	}
	if errno := attachAt(pts, "/dev/pts"); errno != 0 || tree < 0 {
		return errno
	}
	return attachAt(tree, terminalName)
}

func makeFile(path string) syscall.Errno {
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err.(syscall.Errno)
	}
	syscall.Close(fd)
	return 0
}
