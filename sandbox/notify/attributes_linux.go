package notify

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls that change what is known of a file. They go to a descriptor of it, or through one in /proc.

func actChmod(mode int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		if errno := r.flagged(r.operands[0].flags); errno != 0 {
			return errno
		}
		bits := uint32(r.arg(mode)) & 0o7777
		if r.targets[0].given && r.operands[0].path == none {
			return errnoFrom(unix.Fchmod(r.targets[0].open, bits))
		}
		if r.link() {
			return unix.EOPNOTSUPP
		}
		path, errno := r.object()
		if errno != 0 {
			return errno
		}
		return errnoFrom(unix.Chmod(path, bits))
	}
}

func actChown(owner int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		if errno := r.flagged(r.operands[0].flags); errno != 0 {
			return errno
		}
		uid, gid := int(int32(r.arg(owner))), int(int32(r.arg(owner+1)))
		if r.targets[0].given && r.operands[0].path == none {
			return errnoFrom(unix.Fchown(r.targets[0].open, uid, gid))
		}
		if r.link() {
			fd, err := r.targets[0].object()
			if err != nil {
				return errnoOf(err)
			}
			return errnoFrom(unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH))
		}
		path, errno := r.object()
		if errno != 0 {
			return errno
		}
		return errnoFrom(unix.Chown(path, uid, gid))
	}
}

// unit is how a call counts times.
type unit int64

const (
	nanoseconds  unit = 1
	microseconds unit = 1e3
	seconds      unit = 1e9 // and without a fraction
)

// takeTimes reads the two times of a call. Without any it is now.
func takeTimes(at int, in unit) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		if r.arg(at) == 0 {
			return 0
		}
		words := 4
		if in == seconds {
			words = 2
		}
		data := make([]byte, 8*words)
		if n, err := r.from.read(data, r.arg(at)); err != nil || n < len(data) {
			return unix.EFAULT
		}
		word := func(i int) int64 { return int64(binary.NativeEndian.Uint64(data[8*i:])) }
		for i := range 2 {
			if in == seconds {
				r.times = append(r.times, unix.Timespec{Sec: word(i)})
				continue
			}
			fraction := word(2*i + 1)
			if in == microseconds && (fraction < 0 || fraction >= 1e6) {
				return unix.EINVAL
			}
			r.times = append(r.times, unix.Timespec{Sec: word(2 * i), Nsec: fraction * int64(in)})
		}
		return 0
	}
}

func actTimes(r *request) unix.Errno {
	t := r.targets[0]
	if errno := r.flagged(r.operands[0].flags); errno != 0 {
		return errno
	}
	switch {
	case t.given && r.arg(r.operands[0].path) == 0:
		return r.setTimes(t.open, "", 0)
	case r.link():
		fd, err := t.object()
		if err != nil {
			return errnoOf(err)
		}
		return r.setTimes(fd, "", unix.AT_EMPTY_PATH)
	}
	path, errno := r.object()
	if errno != 0 {
		return errno
	}
	return r.setTimes(unix.AT_FDCWD, path, 0)
}

// setTimes is utimensat(2); an empty path without flags is none at all.
func (r *arguments) setTimes(fd int, path string, flags int) unix.Errno {
	var at, times unsafe.Pointer
	if path != "" || flags != 0 {
		name, err := unix.BytePtrFromString(path)
		if err != nil {
			return unix.EINVAL
		}
		at = unsafe.Pointer(name)
	}
	if len(r.times) == 2 {
		times = unsafe.Pointer(&r.times[0])
	}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), uintptr(at), uintptr(times), uintptr(flags), 0, 0)
	return errno
}

// The kernel's bounds on extended attributes.
const (
	maxAttributeName = 255
	maxAttribute     = 64 << 10
)

// takeAttributeName reads the name of an extended attribute.
func takeAttributeName(r *request) unix.Errno {
	name, err := r.from.text(r.arg(1))
	switch {
	case err == unix.ENAMETOOLONG || len(name) > maxAttributeName || err == nil && name == "":
		return unix.ERANGE
	case err != nil:
		return errnoOf(err)
	}
	r.text = name
	return 0
}

// takeAttribute reads the value, too.
func takeAttribute(r *request) unix.Errno {
	if errno := takeAttributeName(r); errno != 0 {
		return errno
	}
	size := r.arg(3)
	if size > maxAttribute {
		return unix.E2BIG
	}
	r.data = make([]byte, size)
	if size == 0 {
		return 0
	}
	if n, err := r.from.read(r.data, r.arg(2)); err != nil || n < len(r.data) {
		return unix.EFAULT
	}
	return 0
}

func actSetAttribute(r *request) unix.Errno {
	flags := int(int32(r.arg(4)))
	if r.targets[0].given {
		return errnoFrom(unix.Fsetxattr(r.targets[0].open, r.text, r.data, flags))
	}
	if r.link() {
		return unix.EPERM // links have none that an ordinary program may set
	}
	path, errno := r.object()
	if errno != 0 {
		return errno
	}
	return errnoFrom(unix.Setxattr(path, r.text, r.data, flags))
}

func actRemoveAttribute(r *request) unix.Errno {
	if r.targets[0].given {
		return errnoFrom(unix.Fremovexattr(r.targets[0].open, r.text))
	}
	if r.link() {
		return unix.EPERM
	}
	path, errno := r.object()
	if errno != 0 {
		return errno
	}
	return errnoFrom(unix.Removexattr(path, r.text))
}
