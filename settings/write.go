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

	"toolhost/agenttool/filesystem"
)

const (
	privateFile = 0o600
	privateDir  = 0o700
	lockWait    = 10 * time.Second // how long another process may hold a lock
	lockTry     = 3 * time.Millisecond
)

// locked calls do while it holds the lock of the file. The lock is a file beside it, which is removed afterwards. The
// directory must exist.
func locked(file string, do func() error) error {
	_, path := beside(file)
	lock, err := acquire(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer os.Remove(path) // before the unlock: a process that locks a removed lock file starts again
	return do()
}

// acquire creates and locks a lock file.
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

// tryLock returns the locked file, or nil if another process holds the lock.
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

// steps are hooks of tests that run before a step or replace it. The zero value uses the real steps.
type steps struct {
	beforeRename func()
	rename       func(from, to string) error
	sync         func(dir *os.File) error
	mode         fs.FileMode // of a new file; 0: privateFile
}

// SyncError is the error of a change that was made and counts, but that a power failure could revert: the directory
// could not be synced.
type SyncError struct {
	File string
	Err  error
}

func (e *SyncError) Error() string {
	return fmt.Sprintf("%s was changed, and the change counts; a power cut could take it back: its directory could not be synced: %v", shown(e.File), e.Err)
}

func (e *SyncError) Unwrap() error { return e.Err }

// IsNotSynced reports whether err is only a [SyncError].
func IsNotSynced(err error) bool {
	var e *SyncError
	return errors.As(err, &e)
}

// ReplaceFile atomically replaces the content of a file of the user's that is no settings file, as changes of settings do; it is on disk when
// ReplaceFile returns. No link is followed: it is an error. A file keeps its mode and owner; a new one has the given mode. The directory must exist. A process that is killed meanwhile leaves the file as it was or as it is to be, and nothing beside it but, if it dies in the
// moment before the rename, one file of a fixed name, which the next ReplaceFile removes. An error is [SyncError] if the new content is in place.
func ReplaceFile(file string, content []byte, mode fs.FileMode) error {
	old, err := os.Lstat(file)
	switch {
	case missing(err):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: remove it", shown(file))
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close() // and gives the lock back, which is the directory's: a file for it would be left by a kill
	for deadline := time.Now().Add(lockWait); ; time.Sleep(lockTry) {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) { // locked, or the file system has no locks
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("another process has held %s for %s: run it again", shown(dir.Name()), lockWait)
		}
	}
	return replaceFile(file, content, old, steps{mode: mode})
}

// replaceFile atomically replaces the content of a file; it is on disk when replaceFile returns. The new file keeps
// the mode and owner of old; nil: there was no file. The caller holds the lock. An error is [SyncError] if the new
// content is in place.
func replaceFile(file string, content []byte, old fs.FileInfo, do steps) error {
	d, err := os.Open(filepath.Dir(file)) // opened first, so that a failure here changes nothing
	if err != nil {
		return err
	}
	defer d.Close()
	next, _ := beside(file) // a fixed name, so that killed processes leave at most one file
	if err := os.Remove(next); err != nil && !missing(err) {
		return err
	}
	made, err := writeNew(next, content, old, do.mode)
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
	if err := do.sync(d); err != nil && !filesystem.CannotSync(err) {
		return &SyncError{file, err}
	}
	return nil
}

// isThere reports whether a name leads to a file: a rename over a network can report an error after it succeeded.
func isThere(name string, made fs.FileInfo) bool {
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(there, made)
}

// writeNew creates a file with the mode and owner of an old one, or else with a mode, and waits until it is on disk. It has its name from then on
// only, where the file system has files without one: a process that is killed before leaves nothing.
func writeNew(file string, content []byte, old fs.FileInfo, mode fs.FileMode) (fs.FileInfo, error) {
	f, err := createNameless(filepath.Dir(file))
	nameless := err == nil
	if !nameless {
		f, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, privateFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if old != nil {
		if stat, ok := old.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
			_ = f.Chown(int(stat.Uid), int(stat.Gid)) // only root can; others already own it
		}
		mode = old.Mode().Perm()
	}
	if mode != 0 {
		if err := f.Chmod(mode); err != nil {
			return nil, err
		}
	}
	if _, err := f.Write(content); err != nil {
		return nil, err
	}
	if err := filesystem.Sync(f); err != nil {
		return nil, err
	}
	if nameless {
		if err := nameFile(f, file); err != nil {
			return nil, err
		}
	}
	made, err := f.Stat()
	return made, errors.Join(err, f.Close())
}

// beside returns the names of the temporary files that a change of a file uses: the new content and the lock.
func beside(file string) (next, lock string) {
	dir, name := filepath.Split(file)
	return filepath.Join(dir, "."+name+".new"), filepath.Join(dir, "."+name+".lock")
}

// createNameless creates a file without a name in a directory. It fails where the file system has no such files, and where it could not be
// named later.
func createNameless(dir string) (*os.File, error) {
	if err := unix.Access("/proc/self/fd", unix.X_OK); err != nil {
		return nil, err
	}
	return os.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE|unix.O_CLOEXEC, privateFile)
}

// nameFile gives a file of createNameless its name, which must be free.
func nameFile(f *os.File, name string) error {
	if err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}
