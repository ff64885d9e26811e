package enter

import (
	"strconv"
	"syscall"
)

// overlay mounts lower directories below an upper one. They are read, and the upper one takes all that is written: work is an empty
// directory beside it. A path with a link in it is refused: commands of an earlier session could write the upper directory.
func overlay(to, upper, work string, lowers []string) syscall.Errno {
	var fds []int
	defer func() {
		for _, fd := range fds {
			syscall.Close(fd)
		}
	}()
	lower := ""
	for ; len(lowers) >= 3; lowers = lowers[3:] {
		fd, errno := openSame(lowers[0], lowers[1], lowers[2])
		if errno != 0 {
			return errno
		}
		fds = append(fds, fd)
		if lower != "" {
			lower += ":"
		}
		lower += descriptorPath(fd)
	}
	options := "userxattr,lowerdir=" + lower
	for _, dir := range [][2]string{{"upperdir", upper}, {"workdir", work}} {
		fd, errno := open(dir[1], oPath|syscall.O_DIRECTORY)
		if errno != 0 {
			return errno
		}
		fds = append(fds, fd)
		options += "," + dir[0] + "=" + descriptorPath(fd)
	}
	tree, errno := newMount("overlay", options, attrNoSuid|attrNoDev)
	if errno != 0 {
		return errno
	}
	const readOnly = 1
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(tree, &st); err != nil || st.Flags&readOnly != 0 { // the kernel could not use the directory for work
		syscall.Close(tree)
		return syscall.EROFS
	}
	return attachAt(tree, to)
}

// descriptorPath is a path that leads to an open file.
func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
