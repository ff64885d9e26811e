package settings

import (
	"os"
	"syscall"
)

// sweep removes temporary files that killed processes left beside the settings files. It leaves them in place while
// another process changes the file and so holds its lock. Files that it cannot remove also stay: the next change removes
// them.
func sweep(o Options) {
	files := []string{o.Trust}
	for _, l := range o.Files() {
		files = append(files, l.File)
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		real, err := editable(file, false)
		if err != nil || real == "" {
			continue
		}
		if next, lock := beside(real); ownFile(next) || ownFile(lock) {
			sweepBeside(real)
		}
	}
}

func sweepBeside(file string) {
	next, path := beside(file)
	lock, err := tryLock(path)
	if lock == nil || err != nil {
		return
	}
	defer lock.Close()
	defer os.Remove(path)
	if ownFile(next) {
		_ = os.Remove(next)
	}
}

// ownFile reports whether a name is a regular file that belongs to this user.
func ownFile(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
