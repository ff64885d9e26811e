package notify

import "golang.org/x/sys/unix"

// place opens what name leads to from the directory that the process calls dir, links at the end included, as a place
// only.
func (w *walk) place(dir int, name string) (int, error) {
	parent, last := split(name)
	if err := w.start(dir, parent); err != nil {
		return -1, err
	}
	for last != "" {
		fd, err := unix.Openat(w.at, last, placeOnly|unix.O_NOFOLLOW, 0)
		if err != nil {
			return -1, err
		}
		if !isLink(fd) {
			return fd, nil
		}
		target, err := readlinkAt(fd, "")
		_ = unix.Close(fd)
		if err != nil {
			return -1, err
		}
		if w.links++; w.links > maxLinks {
			return -1, unix.ELOOP
		}
		if w.magic(last) {
			return unix.Openat(w.at, last, placeOnly, 0)
		}
		parent, last = split(target)
		if err := w.enter(parent); err != nil {
			return -1, err
		}
	}
	return unix.FcntlInt(uintptr(w.at), unix.F_DUPFD_CLOEXEC, 0)
}

func isLink(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}
