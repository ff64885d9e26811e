package keep

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/json"
)

// progress notes which changes of a call are undone, in a file beside its journal, so that an undoing that was killed goes on where it ended.
// Each change is noted before it is undone.
type progress struct {
	file  *os.File
	as    string          // the record of what was there
	done  map[int]bool    // changes that are undone, by their place in the journal
	begun map[int]attempt // moves that may be undone or not
}

// attempt is a line of the file.
type attempt struct {
	As string `json:"as,omitempty"` // a new record begins; the rest counts if there is none

	N      int    `json:"n"`
	Failed bool   `json:"failed,omitempty"`
	Dev    uint64 `json:"dev,omitempty"` // of a move: the file that is to move
	Ino    uint64 `json:"ino,omitempty"`
	Birth  int64  `json:"birth,omitempty"` // in nanoseconds
}

const progressName = "undoing"

// openProgress reads what was undone before.
func (s *Store) openProgress(dir, id string) (*progress, error) {
	p := &progress{done: map[int]bool{}, begun: map[int]attempt{}}
	path := filepath.Join(dir, progressName)
	text, err := wholeLines(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	last := attempt{N: -1}
	for line := range bytes.Lines(text) {
		var a attempt
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		delete(p.begun, a.N)
		switch {
		case a.As != "":
			p.as, last = a.As, attempt{N: -1}
		case a.Failed:
			delete(p.done, a.N)
			p.begun[a.N], last = a, attempt{N: -1}
		default:
			p.done[a.N], last = true, a
		}
	}
	if p.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	if last.N >= 0 { // it may be undone or not
		last.Failed = true
		delete(p.done, last.N)
		p.begun[last.N] = last
		if err := p.note(last); err != nil {
			p.Close()
			return nil, err
		}
	}
	if p.as != "" {
		_, _, whole, err := readJournal(filepath.Join(s.Dir, p.as, journalName))
		if err == nil && !whole || errors.Is(err, fs.ErrNotExist) {
			return p, nil
		}
	}
	p.as = "undo-" + id
	for n := 2; fileExists(filepath.Join(s.Dir, p.as)); n++ {
		p.as = fmt.Sprintf("undo%d-%s", n, id)
	}
	if err := p.note(attempt{As: p.as}); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close closes the file.
func (p *progress) Close() error { return p.file.Close() }

func (p *progress) note(a attempt) error {
	line, err := json.Marshal(a)
	if err == nil {
		_, err = p.file.Write(append(line, '\n'))
	}
	return err
}

// begin notes that a change is about to be undone, and reports whether it was already when an undoing was killed. All but moves can be undone
// twice.
func (p *progress) begin(n int, e entry) (already bool, err error) {
	a := attempt{N: n}
	if e.Did == moved || e.Did == exchanged {
		var now attempt
		now.Dev, now.Ino, now.Birth = fileAt(string(e.Path))
		before := p.begun[n]
		if already = before.Ino != 0 && before.Dev == now.Dev && before.Ino == now.Ino && before.Birth == now.Birth; already {
			a.Dev, a.Ino, a.Birth = before.Dev, before.Ino, before.Birth
		} else {
			a.Dev, a.Ino, a.Birth = fileAt(string(e.To))
		}
	}
	return already, p.note(a)
}

// failed notes that a change could not be undone.
func (p *progress) failed(n int) { _ = p.note(attempt{N: n, Failed: true}) }

// fileAt tells apart the file that has a name; zeros without one.
func fileAt(path string) (dev, ino uint64, birth int64) {
	dir, base, err := parentOf(path)
	if err != nil {
		return 0, 0, 0
	}
	defer unix.Close(dir)
	place, st, err := placeOf(dir, base)
	if err != nil {
		return 0, 0, 0
	}
	defer unix.Close(place)
	id, _ := identityOf(place, &st)
	return id.dev, id.ino, id.born.Sec*1e9 + int64(id.born.Nsec)
}

// lockCall locks the record of a call until the file is closed. A record that goes on is locked; the error is [ErrBusy] if it stays so.
func lockCall(dir string, patience time.Duration) (*os.File, error) {
	f, err := os.Open(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(patience / 100) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || err == unix.EOPNOTSUPP || err == unix.ENOLCK {
			return f, nil
		}
		switch {
		case err != unix.EWOULDBLOCK && err != unix.EINTR:
			f.Close()
			return nil, err
		case !time.Now().Before(end):
			f.Close()
			return nil, ErrBusy
		}
	}
}

// lockPatience is how long PutBack waits for the end of a call: a process that is just being started holds all files of its parent.
const lockPatience = 2 * time.Second

// wholeJournal returns the changes of a call. A journal that the call did not end gets an end first: the changes keep their places in it.
func wholeJournal(path string) ([]entry, error) {
	entries, lost, whole, err := readJournal(path)
	if err != nil || whole {
		return entries, err
	}
	if _, err := wholeLines(path); err != nil {
		return nil, err
	}
	var more []entry
	for _, e := range slices.Backward(slices.Clone(entries)) {
		if wasNotMade(filepath.Dir(path), e) && entries[lastOf(entries, e.Path)] == e {
			entries = slices.Delete(entries, lastOf(entries, e.Path), lastOf(entries, e.Path)+1)
			more = append(more, entry{Did: undone, Path: e.Path})
		}
	}
	more = append(append(more, lost...), entry{Did: ended})
	var text bytes.Buffer
	for _, e := range more {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		text.Write(append(line, '\n'))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text.Bytes())
	return append(entries, lost...), errors.Join(err, syncFile(f), f.Close())
}

// wasNotMade reports whether a change of a journal without an end is not there: the power can fail when the disk has its line, and not yet the
// change. dir is that of the call.
func wasNotMade(dir string, e entry) bool {
	path := string(e.Path)
	switch e.Did {
	case removed:
		if !e.Was.Same {
			return false
		}
		var st unix.Stat_t
		if unix.Lstat(filepath.Join(dir, string(e.Was.Content)), &st) != nil {
			return fileExists(path)
		}
		return isStill(path, &st)
	case moved:
		return fileExists(path)
	}
	return false
}

// reopen is Call for a record that may have begun, and that has each change when the next one begins.
func (s *Store) reopen(id string) (*Call, error) {
	c := s.Call(id)
	c.atOnce = true
	dir := filepath.Join(s.Dir, id)
	path := filepath.Join(dir, journalName)
	text, err := wholeLines(path)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(dir) // it has nothing yet
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	journal, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := c.opened(dir, journal); err != nil {
		return nil, err
	}
	c.written, c.lossLines = int64(len(text)), bytes.Count(text, []byte("\n"))
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if n, err := strconv.Atoi(f.Name()); err == nil {
			c.contents = max(c.contents, n)
		}
	}
	return c, err
}

// wholeLines returns the lines of a file, and cuts off a last one without an end: its writer was killed.
func wholeLines(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		err = os.Truncate(path, int64(whole))
	}
	return text[:whole], err
}
