package persist

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// State is the state of a session, as far as it shows without reading the whole log.
type State string

// The states.
const (
	Live    State = "live"    // a process writes it
	Closed  State = "closed"  // it ended in order
	Open    State = "open"    // it was killed
	Died    State = "died"    // it was killed, and a later process ended its calls
	Damaged State = "damaged" // its log does not end in a record, or cannot be read
	Newer   State = "newer"   // a newer version of toolhost wrote it

	Continued State = "continued" // in another log, since this one was not left as it was written
)

// SessionInfo describes one session on disk.
type SessionInfo struct {
	ID      agenttool.SessionID `json:"session_id"`
	Started time.Time           `json:"started"` // of the first record; of the directory if there is none
	Changed time.Time           `json:"changed"` // when the log was last written
	State   State               `json:"state"`
	Records int64               `json:"records"`        // sequence number of the last one
	Bytes   int64               `json:"bytes"`          // of all its files
	Meta    json.RawMessage     `json:"meta,omitempty"` // data of the first record

	ContinuedIn agenttool.SessionID `json:"continued_in,omitempty"` // the log in which the session went on
}

// List describes at most most of the last used sessions in dir (0: all), in the order of [Recent], and returns their
// total number.
func List(dir string, most int, now time.Time) (list []SessionInfo, total int, err error) {
	used, err := Recent(dir, now)
	if err != nil || len(used) == 0 {
		return nil, 0, err
	}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer all.Close()
	for _, u := range used {
		if most > 0 && len(list) == most {
			break
		}
		if info, ok := describe(all, u.ID); ok {
			if part, _, ok := continued(dir, u.ID); ok {
				info.State, info.ContinuedIn = Continued, part
			}
			list = append(list, info)
		}
	}
	return list, len(used), nil
}

// Abandoned reports whether dir contains a session that no process writes.
func Abandoned(dir string, id agenttool.SessionID) bool {
	if !validID(id) {
		return false
	}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer all.Close()
	f, err := openRegular(all.OpenFile, string(id)+"/"+LogName, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return flock(f, unix.LOCK_SH) == nil // released when f is closed
}

// describe reads the state of one session. ok is false if the session was removed.
func describe(all *os.Root, id agenttool.SessionID) (SessionInfo, bool) {
	dir, err := all.Lstat(string(id))
	if err != nil {
		return SessionInfo{}, false
	}
	info := SessionInfo{ID: id, Started: dir.ModTime(), Changed: dir.ModTime(), State: Open, Bytes: diskUse(all, id)}
	f, err := openRegular(all.OpenFile, string(id)+"/"+LogName, os.O_RDONLY)
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

// readLog fills in the fields from the first and the last line.
func (s *SessionInfo) readLog(f *os.File) {
	stat, err := f.Stat()
	if err != nil {
		s.State = Damaged
		return
	}
	s.Changed = stat.ModTime()
	first, ok := firstEvent(f)
	if ok {
		s.Meta = first.Data
		if t, err := time.Parse(time.RFC3339, first.Time); err == nil {
			s.Started = t
		}
	}
	t, err := readTail(f, stat.Size())
	s.Records = t.chain.seq
	switch last, closed := readClosing(t.line.event); {
	case errors.Is(flock(f, unix.LOCK_SH), ErrLocked): // released when f is closed
		s.State = Live
	case isNewer(first), errors.Is(err, ErrNewer):
		s.State = Newer
	case err != nil:
		s.State = Damaged
	case closed && last.WrittenAfterwards:
		s.State = Died
	case closed:
		s.State = Closed
	}
}

// diskUse returns the bytes of all files of a session.
func diskUse(all *os.Root, id agenttool.SessionID) int64 {
	f, err := all.Open(string(id))
	if err != nil {
		return 0
	}
	defer f.Close()
	return folder{f}.bytes()
}

// SessionBytes returns the size of all files in a session's directory.
func SessionBytes(dir string) int64 {
	d, err := openFolder(dir)
	if err != nil {
		return 0
	}
	defer d.close()
	return d.bytes()
}
