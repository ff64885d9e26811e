// Package cache manages the caches of workspaces: one directory per workspace where commands keep downloads and build
// results. Beside each directory lies a note with the workspace and the time of the last use.
//
//	<Dir>/<name>           the cache
//	<Dir>/<name>.json      the note: {"version":1,"workspace":"/home/me/project","used":"2026-01-02T15:04:05Z"}
//
// A session that uses a cache holds a shared lock on the note, which ends with the process.
package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/json"
)

const (
	version  = 1 // of notes
	noteEnd  = ".json"
	fileMode = 0o600
	dirMode  = 0o700
)

// note is the content of a cache's note file.
type note struct {
	Version   int       `json:"version"`
	Workspace string    `json:"workspace"`
	Used      time.Time `json:"used"`
}

// Hold records that the workspace uses the cache in dir from now on, and keeps [Prune] from removing it until release
// is called. The directory need not exist yet.
func Hold(dir, workspace string, now time.Time) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return nil, err
	}
	for range 10 {
		f, err := openNote(dir+noteEnd, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		if err = lock(f, unix.LOCK_SH); err == nil {
			if err = f.write(note{version, workspace, now}); err == nil {
				return func() { f.Close() }, nil
			}
		}
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, errReplaced) {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond) // Prune holds the lock
	}
	return nil, unix.EWOULDBLOCK
}

// noteFile is an open note.
type noteFile struct {
	*os.File
	path string
}

func openNote(path string, flags int) (noteFile, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, fileMode)
	return noteFile{f, path}, err
}

// errReplaced means that a note was removed while it was being locked.
var errReplaced = errors.New("the note was removed")

// lock locks a note without waiting, and checks that it is still the file at its path.
func lock(f noteFile, how int) error {
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		return err
	}
	held, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Lstat(f.path); err != nil || !os.SameFile(held, now) {
		return errReplaced
	}
	return nil
}

// read returns the content of the note; the zero note if it is unreadable.
func (f noteFile) read() (n note) {
	b := make([]byte, 64<<10)
	size, _ := f.ReadAt(b, 0)
	if json.Unmarshal(b[:size], &n) != nil {
		return note{}
	}
	return n
}

// write replaces the note, unless a newer version wrote it.
func (f noteFile) write(n note) error {
	if f.read().Version > version {
		return nil
	}
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(b)))
}

// Entry is one cache.
type Entry struct {
	Dir       string    `json:"dir"`
	Workspace string    `json:"workspace,omitempty"` // empty: unknown, because an older version made it
	Used      time.Time `json:"used"`
	Bytes     int64     `json:"bytes"`
	InUse     bool      `json:"in_use,omitempty"` // a session uses it
	Gone      bool      `json:"gone,omitempty"`   // its workspace does not exist
	Newer     bool      `json:"newer,omitempty"`  // a newer version of toolhost made it
}

// List returns the caches in dir. A directory that does not exist holds none.
func List(dir string) ([]Entry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, e := range entries {
		if e.IsDir() && e.Name()[0] != '.' {
			list = append(list, describe(filepath.Join(dir, e.Name())))
		}
	}
	return list, nil
}

// describe reads the state of one cache.
func describe(dir string) Entry {
	e := Entry{Dir: dir, Bytes: size(dir)}
	f, err := openNote(dir+noteEnd, os.O_RDONLY)
	if err != nil {
		e.Used = newest(dir)
		return e
	}
	defer f.Close()
	n := f.read()
	e.Workspace, e.Used, e.Newer = n.Workspace, n.Used, n.Version > version
	e.InUse = errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) // released when f is closed
	if n.Workspace != "" {
		_, err := os.Stat(n.Workspace)
		e.Gone = errors.Is(err, fs.ErrNotExist)
	}
	if e.Used.IsZero() {
		e.Used = newest(dir)
	}
	return e
}

// newest returns the last time that the directory, or one in it, was written.
func newest(dir string) (at time.Time) {
	if info, err := os.Lstat(dir); err == nil {
		at = info.ModTime()
	}
	entries, _ := os.ReadDir(dir) // entries before an error count
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// size returns the bytes of all files below dir.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it was removed, or is inaccessible
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
