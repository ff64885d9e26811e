package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// processDir returns the /proc directory of a process.
func processDir(pid int) string { return "/proc/" + strconv.Itoa(pid) }

// readFile reads a file of /proc until its end or until buf is full. An error after the first bytes counts as the
// end. ok is false if the file cannot be opened.
func readFile(path string, buf []byte) (b []byte, ok bool) {
	fd, err := openRead(path)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return buf[:n], true
}

func openRead(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// numbers lists the numeric names in a directory, at most max. whole is false if there are more, or the directory is
// unreadable.
func numbers(dir string, max int) (found []int, whole bool) {
	fd, err := openRead(dir)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var buf [8192]byte
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return found, err == nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			number, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			if len(found) == max {
				return found, false
			}
			found = append(found, number)
		}
	}
}
