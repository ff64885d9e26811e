package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxDescriptors bounds the descriptors examined per process.
const maxDescriptors = 4096

// descriptor is an open file without a name in a file system: a pipe, a socket, or an anonymous kernel object.
type descriptor struct {
	number int
	link   string // pipe:[INODE], socket:[INODE], anon_inode:[KIND]
}

// descriptors lists the descriptors of a process or a thread. whole is false if there are too many, or they are
// inaccessible.
func descriptors(dir string) (found []descriptor, whole bool) {
	all, whole := numbers(dir+"/fd", maxDescriptors)
	for _, number := range all {
		if link, ok := linkOf(dir, number); ok {
			found = append(found, descriptor{number, link})
		}
	}
	return found, whole
}

// linkOf returns the link of a descriptor; ok is false for a file with a path. A path begins with a slash, or with
// (unreachable) if it lies outside the process's root.
func linkOf(dir string, number int) (string, bool) {
	var buf [64]byte
	n, err := unix.Readlink(fdPath(dir, number), buf[:])
	if err != nil || n <= 0 || n == len(buf) || buf[0] == '/' || buf[0] == '(' {
		return "", false
	}
	return string(buf[:n]), true
}

func fdPath(dir string, number int) string { return dir + "/fd/" + strconv.Itoa(number) }

// inode returns the number in a link of the form kind:[number].
func inode(link, kind string) (uint64, bool) {
	number, ok := strings.CutPrefix(link, kind+":[")
	number, closed := strings.CutSuffix(number, "]")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, ok && closed && err == nil
}

// writes reports whether a descriptor is open for writing.
func writes(dir string, number int) bool {
	var buf [1024]byte
	flags, err := strconv.ParseUint(infoField(info(dir, number, buf[:]), "flags"), 8, 64)
	return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
}

// info reads the kernel's description of a descriptor.
func info(dir string, number int, buf []byte) []byte {
	b, _ := readFile(dir+"/fdinfo/"+strconv.Itoa(number), buf)
	return b
}

// infoField returns the value in the first line of the form "name: value".
func infoField(info []byte, name string) string {
	for line := range bytes.Lines(info) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// statOf returns the identity of a descriptor as an [Input]. It uses cached attributes, so that it never waits for a
// network file system or one that the job itself serves.
func statOf(dir string, number int) (in Input, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, fdPath(dir, number), unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE|unix.STATX_INO, &st)
	if err != nil {
		return Input{}, false
	}
	in = Input{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino}
	if st.Mode&unix.S_IFMT == unix.S_IFCHR {
		in.rdev = unix.Mkdev(st.Rdev_major, st.Rdev_minor)
	}
	return in, true
}

func inputOf(info os.FileInfo) Input {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return Input{}
	case st.Mode&unix.S_IFMT == unix.S_IFIFO:
		return Input{dev: uint64(st.Dev), ino: st.Ino}
	case st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev != unix.Mkdev(1, 3): // a read of /dev/null never blocks
		return Input{dev: uint64(st.Dev), ino: st.Ino, rdev: uint64(st.Rdev)}
	}
	return Input{}
}
