package tree

import (
	"time"

	"golang.org/x/sys/unix"

	"toolhost/tools/racy"
)

// status is compared to notice changes of a directory's names or of a small file. The zero status means that it does
// not exist.
type status struct {
	dev, ino     uint64
	mtime, ctime int64 // nanoseconds since 1970
}

func statusOf(st *unix.Stat_t) status {
	return status{uint64(st.Dev), st.Ino, unix.TimespecToNsec(st.Mtim), unix.TimespecToNsec(st.Ctim)}
}

// fresh reports whether a later change could leave this status unchanged.
func (s status) fresh(now time.Time) bool {
	return racy.At(now, s.mtime, s.ctime)
}

// statusAt returns the status of path, which is relative to the directory root or absolute. Only an absolute path
// may end in a link.
func statusAt(root int, path string) (st unix.Stat_t, err error) {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if path[0] == '/' {
		flags = 0
	}
	err = retry(func() error { return unix.Fstatat(root, path, &st, flags) })
	return st, err
}
