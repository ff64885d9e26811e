package settings

import (
	"os"
	"path/filepath"
	"syscall"
)

// beside are the names that a change of a file has beside it while it is made.
func beside(file string) (next, lock string) {
	dir, name := filepath.Split(file)
	return filepath.Join(dir, "."+name+".new"), filepath.Join(dir, "."+name+".lock")
}

// sweep removes what changes by processes that were killed left beside the files. Where another process makes one now, which holds its lock,
// everything stays. What cannot be removed stays, too: the next change removes it.
func (o Options) sweep() {
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

// ownFile reports whether a name is that of a regular file of this user.
func ownFile(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
