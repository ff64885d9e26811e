// Package presence tells sessions whether a user answers prompts now: toolhost approve locks a file while it runs. The kernel gives
// the lock up with the process, however that ends.
package presence

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"toolhost/cmd/toolhost/internal/dirs"
)

// File is the name of the locked file, in the state directory.
const File = "approve.lock"

// Here reports whether toolhost approve runs for this user.
func Here() bool {
	state, err := dirs.State()
	if err != nil {
		return false
	}
	f, err := os.Open(filepath.Join(state, File))
	if err != nil {
		return false
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK} // of the whole file; it would conflict with each lock of Hold
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

// Hold locks the file until leave is called. The lock belongs to the open file: a session that is its own approver sees it, too. Where that fails, sessions do not wait for this process.
func Hold() (leave func()) {
	leave = func() {}
	dir, err := dirs.State()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return leave
	}
	f, err := os.OpenFile(filepath.Join(dir, File), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return leave
	}
	if unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}) != nil {
		f.Close()
		return leave
	}
	return func() { f.Close() }
}
