package persist

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// State is what can be said of a session without reading all of it.
type State string

// The states.
const (
	Live    State = "live"    // a process writes it
	Closed  State = "closed"  // it ended in order
	Open    State = "open"    // it was killed, or may go on another time
	Damaged State = "damaged" // its log does not end in a record, or cannot be read
)

// SessionInfo describes one session on disk.
type SessionInfo struct {
	ID      agenttool.SessionID `json:"session_id"`
	Started time.Time           `json:"started"` // of the first record; of the directory if there is none
	Changed time.Time           `json:"changed"` // when the log was last written
	State   State               `json:"state"`
	Records int64               `json:"records"`        // number of the last one
	Bytes   int64               `json:"bytes"`          // of all its files
	Meta    json.RawMessage     `json:"meta,omitempty"` // data of the first record
}

// List returns the sessions in dir, newest first. What is not a session is left out, links are not followed, and a
// directory that does not exist holds none.
func List(dir string) ([]SessionInfo, error) {
	all, names, err := sessionNames(dir)
	if err != nil || all == nil {
		return nil, err
	}
	defer all.Close()
	var list []SessionInfo
	for _, id := range names {
		if info, ok := describe(all, id); ok {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b SessionInfo) int { return b.Started.Compare(a.Started) })
	return list, nil
}

// Abandoned reports whether a session is in dir and no process writes it.
func Abandoned(dir string, id agenttool.SessionID) bool {
	if !validID(id) {
		return false
	}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer all.Close()
	f, err := openRegular(all, string(id)+"/"+logName, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, unix.LOCK_SH) == nil // given back when f is closed
}

// sessionNames opens dir and returns the directories in it that have the name of a session.
func sessionNames(dir string) (*os.Root, []agenttool.SessionID, error) {
	all, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	entries, err := fs.ReadDir(all.FS(), ".")
	if err != nil {
		all.Close()
		return nil, nil, err
	}
	var ids []agenttool.SessionID
	for _, e := range entries {
		if id := agenttool.SessionID(e.Name()); e.IsDir() && validID(id) {
			ids = append(ids, id)
		}
	}
	return all, ids, nil
}

// describe looks at one session. It is not ok if the session went away.
func describe(all *os.Root, id agenttool.SessionID) (SessionInfo, bool) {
	dir, err := all.Lstat(string(id))
	if err != nil {
		return SessionInfo{}, false
	}
	info := SessionInfo{ID: id, Started: dir.ModTime(), Changed: dir.ModTime(), State: Open, Bytes: diskUse(all, id)}
	f, err := openRegular(all, string(id)+"/"+logName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return info, true
	}
	if err != nil {
		info.State = Damaged
		return info, true
	}
	defer f.Close()
	info.readLog(f)
	return info, true
}

// readLog fills in what the first and the last line say.
func (s *SessionInfo) readLog(f *os.File) {
	stat, err := f.Stat()
	if err != nil {
		s.State = Damaged
		return
	}
	s.Changed = stat.ModTime()
	if first, ok := firstEvent(f); ok {
		s.Meta = first.Data
		if t, err := time.Parse(time.RFC3339, first.Time); err == nil {
			s.Started = t
		}
	}
	t, err := readTail(f, stat.Size())
	s.Records = t.chain.seq
	switch _, closed := readClosing(t.line.event); {
	case errors.Is(flock(f, unix.LOCK_SH), ErrLocked): // given back when f is closed
		s.State = Live
	case err != nil:
		s.State = Damaged
	case closed:
		s.State = Closed
	}
}

// firstEvent reads the first record of a journal if it has a usual length.
func firstEvent(f *os.File) (e agenttool.Event, ok bool) {
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, 64<<10), 64<<10)
	b, err := r.ReadSlice('\n')
	if err != nil {
		return e, false
	}
	l, err := parseLine(b[:len(b)-1])
	return e, err == nil && json.Unmarshal(l.event, &e) == nil
}

// diskUse returns the bytes of all files of a session. Links are counted as themselves.
func diskUse(all *os.Root, id agenttool.SessionID) (total int64) {
	_ = fs.WalkDir(all.FS(), string(id), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went away, or cannot be read: count the rest
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
