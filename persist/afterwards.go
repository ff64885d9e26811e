package persist

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// errNothingToEnd means that a session ended in order, or has no record.
var errNothingToEnd = errors.New("the session needs no end")

// EndAfterwards ends the session for o, whose process died: it appends the events that ends makes from the records of all its logs, and a closing record
// that says that it was written afterwards. It returns false if the session ended in order, has no record, or is not there. The time of
// the last write stays, since it says when the session was used.
//
// It fails with [ErrLocked] if another process writes the session, and otherwise as [Resume] does. It holds the lock only to write, because
// others take a lock for a sign of life. If it is interrupted, the next one continues: ends sees the events that it wrote.
func EndAfterwards(o Options, ends func(log iter.Seq2[Entry, error]) ([][]byte, error)) (ended bool, err error) {
	o = o.withDefaults()
	log, used, err := openDead(o.Dir, o.ID)
	if errors.Is(err, errNothingToEnd) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer log.Close()
	before := openBefore(o.Dir, o.ID)
	defer before.Close()
	events, err := ends(Scan(io.MultiReader(before, io.NewSectionReader(log, 0, used.Size()))))
	if err != nil {
		return false, err
	}
	err = writeEnd(log, used, o, events)
	return err == nil, err
}

// writeEnd writes events and the closing record into a journal, unless it changed since used.
func writeEnd(log diskLog, used fs.FileInfo, o Options, events [][]byte) error {
	path := filepath.Join(o.Dir, string(o.ID), LogName)
	if err := lockDead(log, used, path); err != nil {
		return err
	}
	err := endLog(log, recorder{o}, events)
	_ = os.Chtimes(path, time.Time{}, used.ModTime()) // else the session looks used
	_ = unix.Flock(int(log.Fd()), unix.LOCK_UN)
	return errors.Join(err, log.Sync())
}

// endLog appends events and the closing record.
func endLog(log diskLog, r recorder, events [][]byte) error {
	j, err := resumeJournal(log)
	if err != nil {
		return err
	}
	if len(events) > 0 {
		if _, err := j.append(events); err != nil {
			return err
		}
	}
	last, err := r.closedAfterwards(j.chain)
	if err == nil {
		_, err = j.append([][]byte{last})
	}
	return err
}

// openDead opens the journal of a session that did not end and that no process writes. It creates nothing.
func openDead(dir string, id agenttool.SessionID) (log diskLog, used fs.FileInfo, err error) {
	if !validID(id) {
		return log, nil, errNothingToEnd
	}
	all, err := os.OpenRoot(dir)
	if err != nil {
		return log, nil, err
	}
	defer all.Close()
	f, err := openRegular(all.OpenFile, filepath.Join(string(id), LogName), os.O_RDWR)
	if err != nil {
		return log, nil, err
	}
	if _, err := all.Lstat(filepath.Join(string(id), rewrittenName)); err == nil { // Prune or a rewrite finishes that first
		f.Close()
		return log, nil, errNothingToEnd
	}
	if _, _, ok := continued(dir, id); ok { // its process did not die
		f.Close()
		return log, nil, errNothingToEnd
	}
	if used, err = f.Stat(); err == nil { // before anything is read, as lockDead compares
		err = needsEnd(f)
	}
	if err == nil { // most sessions did end, and are not locked
		err = checkAbandoned(f)
	}
	if err != nil {
		f.Close()
	}
	return diskLog{f}, used, err
}

// checkAbandoned fails with ErrLocked if a process writes a journal.
func checkAbandoned(f *os.File) error {
	if err := flock(f, unix.LOCK_SH); err != nil {
		return err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	return nil
}

// lockDead locks a journal, unless it changed since it was read or is not at its place.
func lockDead(log diskLog, read fs.FileInfo, path string) error {
	if err := lock(log.File); err != nil {
		return err
	}
	if now, err := log.size(); err != nil || now != read.Size() {
		return errors.Join(err, ErrLocked)
	}
	return checkPlace(log.File, path)
}

// needsEnd fails with errNothingToEnd if the last record is a closing record, or if there is none.
func needsEnd(f *os.File) error {
	if err := checkFormat(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t, err := readTail(f, info.Size())
	if err != nil {
		return err
	}
	if _, closed := readClosing(t.line.event); closed || t.chain.seq == 0 {
		return errNothingToEnd
	}
	return nil
}
