package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	privateFile = 0o600
	privateDir  = 0o700
	lockWait    = 10 * time.Second // how long another process may hold a lock
	lockTry     = 3 * time.Millisecond
)

// locked calls do while no other process that asks so changes the file. The lock is a file beside it, which is gone
// afterwards. The directory must exist.
func locked(file string, do func() error) error {
	_, path := beside(file)
	lock, err := acquire(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer os.Remove(path) // before it is let go: whoever gets the lock of a file that is gone begins anew
	return do()
}

// acquire makes and locks a lock file.
func acquire(path string) (*os.File, error) {
	for deadline := time.Now().Add(lockWait); ; time.Sleep(lockTry) {
		f, err := tryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another process has held %s for %s: if none is at work, remove it", shown(path), lockWait)
		}
	}
}

// tryLock returns the locked file, or nil if somebody else has it.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, privateFile)
	if err != nil {
		return nil, err
	}
	held, err := f.Stat()
	switch {
	case err != nil:
	case !held.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file: remove it", shown(path))
	default:
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		if there, statErr := os.Lstat(path); statErr == nil && os.SameFile(held, there) {
			return f, nil
		}
	}
	f.Close()
	if err == nil || errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return nil, nil
	}
	return nil, err
}

// steps are what a test does in the place of a step, or before it. The zero value is what is done otherwise.
type steps struct {
	beforeRename func()
	rename       func(from, to string) error
	sync         func(dir *os.File) error
}

// NotSynced is the error of a change that was made and counts, but that a power cut could take back: the directory could not be
// synced.
type NotSynced struct {
	File string
	Err  error
}

func (e *NotSynced) Error() string {
	return fmt.Sprintf("%s was changed, and the change counts; a power cut could take it back: its directory could not be synced: %v", shown(e.File), e.Err)
}

func (e *NotSynced) Unwrap() error { return e.Err }

// IsNotSynced reports whether err says no more than [NotSynced].
func IsNotSynced(err error) bool {
	var e *NotSynced
	return errors.As(err, &e)
}

// replaceFile puts content in the place of a file, all at once, on disk when it returns. old is what was there: its
// mode and owner stay; nil: nothing was. The caller holds the lock. An error is [NotSynced] if content is there.
func replaceFile(file string, content []byte, old fs.FileInfo, do steps) error {
	d, err := os.Open(filepath.Dir(file)) // first: a failure here changes nothing
	if err != nil {
		return err
	}
	defer d.Close()
	next, _ := beside(file) // one name, so that a process that was killed leaves at most one
	if err := os.Remove(next); err != nil && !missing(err) {
		return err
	}
	made, err := writeNew(next, content, old)
	if err != nil {
		os.Remove(next)
		return err
	}
	if do.beforeRename != nil {
		do.beforeRename()
	}
	if do.rename == nil {
		do.rename = os.Rename
	}
	if err := do.rename(next, file); err != nil && !isThere(file, made) {
		os.Remove(next)
		return err
	}
	if do.sync == nil {
		do.sync = (*os.File).Sync
	}
	if err := do.sync(d); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, errors.ErrUnsupported) { // some file systems cannot
		return &NotSynced{file, err}
	}
	return nil
}

// isThere reports whether a name leads to a file: a rename over a network can fail after it happened.
func isThere(name string, made fs.FileInfo) bool {
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(there, made)
}

// writeNew makes a file with the mode and owner of an old one, and waits until it is on disk.
func writeNew(file string, content []byte, old fs.FileInfo) (fs.FileInfo, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, privateFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if old != nil {
		if stat, ok := old.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
			_ = f.Chown(int(stat.Uid), int(stat.Gid)) // only root can; others own it anyway
		}
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return nil, err
		}
	}
	if _, err := f.Write(content); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	made, err := f.Stat()
	return made, errors.Join(err, f.Close())
}
