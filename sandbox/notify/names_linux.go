package notify

import (
	"golang.org/x/sys/unix"
)

// The calls that make, move and remove names. The last component is never followed by them.

func errnoFrom(err error) unix.Errno {
	if err == nil {
		return 0
	}
	return errnoOf(err)
}

func actMkdir(mode int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		if errno := r.takeUmask(); errno != 0 {
			return errno
		}
		t := r.targets[0]
		return errnoFrom(unix.Mkdirat(t.at, t.name(), uint32(r.arg(mode))))
	}
}

func actMknod(mode int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		kind := uint32(r.arg(mode)) & 0xffff
		switch kind & unix.S_IFMT {
		case unix.S_IFCHR, unix.S_IFBLK:
			return unix.EPERM
		}
		if errno := r.takeUmask(); errno != 0 {
			return errno
		}
		t := r.targets[0]
		return errnoFrom(unix.Mknodat(t.at, t.name(), kind, 0))
	}
}

// covered reports whether something is mounted over the name. The kernel checks that only for mounts of the caller's namespace, and would
// remove mounts of other namespaces there.
func (t *target) covered() bool {
	if t.last == "/" || t.last == "." || t.last == ".." { // whose calls fail by themselves
		return false
	}
	var st unix.Statx_t
	err := unix.Statx(t.at, t.last, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE, &st)
	return err == nil && st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

func actRename(flags int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		old, to := r.targets[0], r.targets[1]
		how := uint(0)
		if flags != none {
			how = uint(uint32(r.arg(flags)))
		}
		if old.covered() || to.covered() {
			return unix.EBUSY
		}
		return errnoFrom(unix.Renameat2(old.at, old.name(), to.at, to.name(), how))
	}
}

// actLink gives a file another name. One that is only open gets it through /proc, as programs do it themselves.
func actLink(r *request) unix.Errno {
	if r.call.name == "linkat" && r.arg(4)&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return unix.EINVAL
	}
	old, to := r.targets[0], r.targets[1]
	if old.open >= 0 {
		return errnoFrom(unix.Linkat(unix.AT_FDCWD, atProc(old.open), to.at, to.name(), unix.AT_SYMLINK_FOLLOW))
	}
	return errnoFrom(unix.Linkat(old.at, old.last, to.at, to.name(), 0))
}

// takeText reads the text of a symbolic link.
func takeText(at int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		text, err := r.from.text(r.arg(at))
		switch {
		case err != nil:
			return errnoOf(err)
		case text == "":
			return unix.ENOENT
		}
		r.text = text
		return 0
	}
}

func actSymlink(r *request) unix.Errno {
	t := r.targets[0]
	return errnoFrom(unix.Symlinkat(r.text, t.at, t.name()))
}

func actUnlink(flags int) func(*request) unix.Errno {
	return func(r *request) unix.Errno {
		t, how := r.targets[0], 0
		if flags != none {
			how = int(int32(r.arg(flags)))
		}
		if t.covered() {
			return unix.EBUSY
		}
		return errnoFrom(unix.Unlinkat(t.at, t.name(), how))
	}
}

func actRmdir(r *request) unix.Errno {
	t := r.targets[0]
	if t.covered() {
		return unix.EBUSY
	}
	return errnoFrom(unix.Unlinkat(t.at, t.name(), unix.AT_REMOVEDIR))
}

// actTruncate cuts a file, within what the caller may write at most: our own bound is another.
func actTruncate(r *request) unix.Errno {
	size := int64(r.arg(1))
	if size < 0 {
		return unix.EINVAL
	}
	var bound unix.Rlimit
	if err := unix.Prlimit(r.from.pid, unix.RLIMIT_FSIZE, nil, &bound); err != nil {
		return errnoOf(err)
	}
	if uint64(size) > bound.Cur {
		return unix.EFBIG
	}
	path, errno := r.object()
	if errno != 0 {
		return errno
	}
	return errnoFrom(unix.Truncate(path, size))
}
