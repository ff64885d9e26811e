package persist

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// folder is an open directory. The names passed to its methods are single components, and no link is followed. It is
// cheaper than os.Root, and one directory may contain ten thousand sessions.
type folder struct{ f *os.File }

// openFolder opens the directory at path.
func openFolder(path string) (folder, error) {
	f, err := os.Open(path)
	return folder{f}, err
}

func (d folder) close() { d.f.Close() }

// open opens the directory name.
func (d folder) open(name string) (folder, error) {
	fd, err := unix.Openat(int(d.f.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return folder{}, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return folder{os.NewFile(uintptr(fd), name)}, nil
}

// stat returns the status of a file below d; in a path of several components only the last may be a link.
func (d folder) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return st, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	return st, nil
}

// regular calls do for each regular file in the directory.
func (d folder) regular(do func(name string, st unix.Stat_t)) {
	entries, _ := d.f.ReadDir(-1) // entries before an error count
	for _, e := range entries {
		if e.Type().IsRegular() {
			if st, err := d.stat(e.Name()); err == nil {
				do(e.Name(), st)
			}
		}
	}
}

// bytes returns the size of all regular files of the directory and those below it. Links count as nothing.
func (d folder) bytes() (total int64) {
	entries, _ := d.f.ReadDir(-1)
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			if st, err := d.stat(e.Name()); err == nil {
				total += st.Size
			}
		case e.Type()&fs.ModeDir != 0:
			if sub, err := d.open(e.Name()); err == nil {
				total += sub.bytes()
				sub.close()
			}
		}
	}
	return total
}

// modified returns the time of the last write.
func modified(st unix.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()) }
