package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
)

// LogName is the name of the journal in a session's directory.
const LogName = "log.jsonl"

const (
	resultsDir = "results"
	fileMode   = 0o600
	dirMode    = 0o700
)

// validID reports whether id can name a session's directory.
func validID(id agenttool.SessionID) bool { return len(id) <= 128 && isWord(string(id), idLetters) }

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	idLetters   = nameLetters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isWord reports whether s consists of letters and is not empty.
func isWord(s, letters string) bool {
	return s != "" && strings.Trim(s, letters) == ""
}

// openSession opens the directory of session id below dir and creates it if needed. Only the owner has access.
func openSession(dir string, id agenttool.SessionID) (*os.Root, error) {
	if !validID(id) {
		return nil, fmt.Errorf("%q is not a session id", id)
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, err
	}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	if err := all.Mkdir(string(id), dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := checkOwn(all, string(id)); err != nil {
		return nil, err
	}
	return all.OpenRoot(string(id))
}

// checkOwn refuses a session directory that is a link, or that another user owns or can enter.
func checkOwn(all *os.Root, name string) error {
	info, err := all.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", name)
	}
	f, err := all.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d", name, st.Uid)
	}
	return filesystem.OthersKeptOut(filepath.Join(all.Name(), name))
}

// opener opens a file as [os.OpenFile] does, or [os.Root.OpenFile].
type opener func(name string, flags int, mode os.FileMode) (*os.File, error)

// openRegular opens a regular file; it never blocks on a pipe and creates a missing file only if flags request it.
func openRegular(open opener, name string, flags int) (*os.File, error) {
	f, err := open(name, flags|unix.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", name))
	}
	return f, nil
}

// openLocked opens the session id below dir and its journal, and locks it. If Prune removes the session meanwhile, it
// is created again. It finishes an interrupted rewrite.
func openLocked(dir string, id agenttool.SessionID) (session *os.Root, log diskLog, err error) {
	for range 3 {
		if session, err = openSession(dir, id); err != nil {
			return nil, diskLog{}, err
		}
		if log, err = openLog(session, filepath.Join(dir, string(id), LogName)); err == nil {
			if !isInterrupted(session) {
				return session, log, nil
			}
			if _, err = settleRewrite(session); err == nil {
				err = errRemoved // another file has its name now
			}
			log.Close()
		}
		session.Close()
		if !errors.Is(err, errRemoved) {
			break
		}
	}
	return nil, diskLog{}, err
}

// openLog opens and locks the journal of a session, and checks that it is still the file at path. From then on Prune
// does not remove it.
func openLog(session *os.Root, path string) (diskLog, error) {
	f, err := openRegular(session.OpenFile, LogName, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return diskLog{}, err
	}
	if err = lock(f); err == nil {
		err = checkPlace(f, path)
	}
	if err != nil {
		f.Close()
		return diskLog{}, err
	}
	return diskLog{f}, nil
}

// checkPlace fails with errRemoved unless path is still f.
func checkPlace(f *os.File, path string) error {
	held, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return errRemoved
	}
	return nil
}

// lock takes the exclusive lock of f, or fails with ErrLocked. It tries several times, because a reader that checks
// whether a session is live holds the lock for a moment.
func lock(f *os.File) error {
	var err error
	for try := range 4 {
		if try > 0 {
			time.Sleep(time.Millisecond)
		}
		err = flock(f, unix.LOCK_EX)
		if !errors.Is(err, ErrLocked) {
			return err
		}
	}
	return err
}

// flock tries once to lock f, without waiting.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}
