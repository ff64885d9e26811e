package redact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"
)

const keySize = 32

// NewKey returns a fresh key.
func NewKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	return key
}

// UserKey reads the key of a user, and makes it if there is none: 32 random bytes in a file of mode 0600. It fails if the
// file belongs to another user, if others can read it, or if it has another size.
func UserKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(NewKey())
	if err = errors.Join(err, filesystem.Sync(f), f.Close()); err != nil {
		return nil, err
	}
	if err := nameKey(f.Name(), path); err != nil {
		return nil, err
	}
	return readKey(path)
}

// keyLockWait is how long another process may take to name its key.
const keyLockWait = time.Second

// nameKey gives a new key its name, unless another process was first: by a hard link, or under a lock where the file system has none.
func nameKey(from, path string) error {
	err := os.Link(from, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	dir, failed := os.Open(filepath.Dir(path))
	if failed != nil {
		return failed
	}
	defer dir.Close() // and gives the lock back
	for deadline := time.Now().Add(keyLockWait); ; time.Sleep(time.Millisecond) {
		failed := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if failed == nil {
			break
		}
		if time.Now().After(deadline) {
			return errors.Join(err, failed)
		}
	}
	if _, there := os.Lstat(path); !errors.Is(there, fs.ErrNotExist) {
		return there
	}
	return os.Rename(from, path)
}

func readKey(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o077 != 0 {
		return nil, fmt.Errorf("%s is not a file of this user alone: remove it, and a new key is made", path)
	}
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err == nil && len(key) != keySize {
		err = fmt.Errorf("%s does not hold a key of %d bytes: remove it, and a new key is made", path, keySize)
	}
	return key, err
}
