package notify

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// takeOpen reads the flags of open, and the mode behind them.
func takeOpen(at int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		r.flags, r.mode = int(uint32(r.arg(at))), uint32(r.arg(at+1))&0o7777
		if r.flags&(unix.O_CREAT|unix.O_DIRECTORY) == unix.O_CREAT|unix.O_DIRECTORY || r.flags&unix.O_PATH != 0 {
			return unix.EINVAL // an O_PATH open needs no judge, and is not handed over
		}
		return 0
	}
}

func takeCreat(r *request) unix.Errno {
	r.flags, r.mode = unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(r.arg(1))&0o7777
	return 0
}

// ourFlags are added to every open: it must not wait for another side, must not make a terminal ours, and must not follow a
// link that took the place of the resolved file.
const ourFlags = unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW

// actOpen opens what the name led to.
func actOpen(r *request) unix.Errno {
	t := r.targets[0]
	nameless := r.flags&unix.O_TMPFILE == unix.O_TMPFILE
	if t.slash && !nameless {
		return r.openDirectory()
	}
	if nameless || r.flags&unix.O_CREAT != 0 {
		if errno := r.takeUmask(); errno != 0 {
			return errno
		}
	}
	if t.open >= 0 {
		return r.reopen(t.open)
	}
	if t.absent && r.flags&unix.O_CREAT != 0 {
		how := r.flags | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NOCTTY
		fd, err := unix.Openat(t.at, t.last, how, r.mode)
		if err == nil {
			r.fd, r.made = fd, true
			return 0
		}
		if err == unix.EEXIST && r.flags&unix.O_EXCL == 0 {
			return again // it was judged as a name that is free
		}
		return errnoOf(err)
	}
	if t.absent {
		return unix.ENOENT
	}
	fd, err := unix.Openat(t.at, t.last, r.flags|ourFlags, r.mode)
	if err == unix.ELOOP && r.flags&unix.O_NOFOLLOW == 0 {
		return again
	}
	return r.opened(fd, err)
}

// openDirectory opens a name that ends in a slash; directories cannot be opened for writing.
func (r *request) openDirectory() unix.Errno {
	mode := r.targets[0].mode()
	switch {
	case r.flags&unix.O_CREAT != 0 || mode&unix.S_IFMT == unix.S_IFDIR:
		return unix.EISDIR
	case mode == 0:
		return unix.ENOENT
	}
	return unix.ENOTDIR
}

// reopen opens what is open as a place.
func (r *request) reopen(place int) unix.Errno {
	const naming = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return errnoOf(err)
	}
	if r.flags&unix.O_CREAT != 0 && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	fd, err := unix.Open(atProc(place), (r.flags|ourFlags)&^naming, r.mode)
	return r.opened(fd, err)
}

// opened checks the opened file before the caller gets it.
func (r *request) opened(fd int, err error) unix.Errno {
	if err == unix.ENXIO || err == unix.EWOULDBLOCK {
		return r.blocked(errnoOf(err))
	}
	if err != nil {
		return errnoOf(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		closeAll(fd)
		return errnoOf(err)
	}
	if isOwnTerminal(&st) { // that is ours
		closeAll(fd)
		return r.openTerminal()
	}
	r.fd, r.regular = fd, isNamed(r.targets[0].path, &st) && r.flags&unix.O_TMPFILE != unix.O_TMPFILE
	return r.unblock()
}

// unblock sets the flags that the caller asked for.
func (r *request) unblock() unix.Errno {
	const kept = unix.O_APPEND | unix.O_NONBLOCK | unix.O_DIRECT | unix.O_NOATIME | unix.O_ASYNC
	if r.flags&unix.O_NONBLOCK != 0 {
		return 0
	}
	if _, err := unix.FcntlInt(uintptr(r.fd), unix.F_SETFL, r.flags&kept); err != nil {
		return errnoOf(err)
	}
	return 0
}

// blocked decides what to do when something cannot be opened at once: it waits for the reader of a pipe, or for the end
// of a lease, unless the caller does not want to.
func (r *request) blocked(errno unix.Errno) unix.Errno {
	t := r.targets[0]
	place, err := t.object()
	if err != nil {
		return errnoOf(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return errnoOf(err)
	}
	switch {
	case isOwnTerminal(&st):
		return r.openTerminal()
	case r.flags&unix.O_NONBLOCK != 0, errno == unix.ENXIO && st.Mode&unix.S_IFMT != unix.S_IFIFO:
		return errno
	}
	if r.waits, err = unix.FcntlInt(uintptr(place), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return errnoOf(err)
	}
	r.regular = isNamed(t.path, &st) // the end of a lease is waited for
	return later
}

// isNamed reports whether an opened file is a regular one that has its name.
func isNamed(path string, st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 0 && strings.HasPrefix(path, "/")
}

// isOwnTerminal reports whether a file is /dev/tty, which is another terminal to each who opens it.
func isOwnTerminal(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFCHR && unix.Major(st.Rdev) == 5 && unix.Minor(st.Rdev) == 0
}

// openTerminal opens the caller's controlling terminal by a name under which it has it.
func (r *request) openTerminal() unix.Errno {
	device, err := r.from.terminal()
	switch {
	case err != nil:
		return unix.EIO
	case device == 0:
		return unix.ENXIO
	}
	for _, open := range r.terminals(device) {
		place := open()
		if place < 0 {
			continue
		}
		var st unix.Stat_t
		found := unix.Fstat(place, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR &&
			uint64(unix.Major(st.Rdev)) == device>>8&0xfff && uint64(unix.Minor(st.Rdev)) == device&0xff|device>>12&0xfff00
		if !found {
			closeAll(place)
			continue
		}
		fd, err := unix.Open(atProc(place), r.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW)|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		closeAll(place)
		if err != nil {
			return errnoOf(err)
		}
		r.fd = fd
		return r.unblock()
	}
	return unix.ENXIO
}

// terminal is the device number of the process's controlling terminal, as the kernel writes it; 0: it has none.
func (p *process) terminal() (uint64, error) {
	const field = 7 - 3 // behind number and name
	text, err := os.ReadFile(p.dir + "/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= field {
		return 0, unix.EIO
	}
	return strconv.ParseUint(fields[field], 10, 32)
}

// terminals are the places where a terminal may be: open files of the caller, and names in its own /dev.
func (r *source) terminals(device uint64) []func() int {
	const most = 64
	var places []func() int
	entries, _ := os.ReadDir(r.from.dir + "/fd")
	for _, entry := range entries[:min(len(entries), most)] {
		places = append(places, func() int {
			fd, err := unix.Open(r.from.dir+"/fd/"+entry.Name(), placeOnly, 0)
			if err != nil {
				return -1
			}
			return fd
		})
	}
	minor := strconv.FormatUint(device&0xff|device>>12&0xfff00, 10)
	for _, name := range []string{"dev/.terminal", "dev/pts/" + minor} {
		places = append(places, func() int {
			root, _, err := r.from.root.open(&r.from.process)
			if err != nil {
				return -1
			}
			fd, err := unix.Openat2(root, name, &unix.OpenHow{Flags: placeOnly, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
			if err != nil {
				return -1
			}
			return fd
		})
	}
	return slices.Clip(places)
}
