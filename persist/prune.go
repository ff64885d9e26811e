package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Retention says how long sessions are kept.
type Retention struct {
	MaxAge   time.Duration         // since the last record; 0: 30 days; below 0: no limit
	MaxBytes int64                 // of all sessions together; 0: 5 GiB; below 0: no limit
	Keep     []agenttool.SessionID // never removed; neither is any session that a process writes
}

const (
	defaultMaxAge   = 30 * 24 * time.Hour
	defaultMaxBytes = 5 << 30
)

func (o Retention) withDefaults() Retention {
	if o.MaxAge == 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	return o
}

// prunedPrefix begins the name of a session that is being removed. It is no session's name.
const prunedPrefix = ".pruned-"

// Prune removes whole sessions from dir, the one that was written longest ago first, until none is too old and all
// together are not too large. It follows no links, leaves alone what is not a session, and finishes what an earlier
// Prune was killed over. It returns what it removed also when some could not be.
func Prune(dir string, o Retention, now time.Time) (removed []agenttool.SessionID, err error) {
	all, names, err := sessionNames(dir)
	if err != nil || all == nil {
		return nil, err
	}
	defer all.Close()
	o = o.withDefaults()
	errs := []error{sweep(all)}
	sessions, total := measure(all, names)
	for _, s := range sessions {
		old := o.MaxAge > 0 && now.Sub(s.changed) > o.MaxAge
		large := o.MaxBytes > 0 && total > o.MaxBytes && s.bytes > 0
		if !old && !large || slices.Contains(o.Keep, s.id) {
			continue
		}
		switch err := remove(all, s.id); {
		case err == nil:
			removed = append(removed, s.id)
			total -= s.bytes
		case !errors.Is(err, errKeep):
			errs = append(errs, fmt.Errorf("prune %s: %w", s.id, err))
		}
	}
	return removed, errors.Join(errs...)
}

// measured is a session as far as Prune cares.
type measured struct {
	id      agenttool.SessionID
	changed time.Time
	bytes   int64
}

// measure returns the sessions by their last change, oldest first, and the bytes of all.
func measure(all *os.Root, names []agenttool.SessionID) (list []measured, total int64) {
	for _, id := range names {
		info, err := all.Lstat(string(id) + "/" + logName)
		if err != nil {
			info, err = all.Lstat(string(id))
		}
		if err != nil {
			continue // it went away
		}
		m := measured{id: id, changed: info.ModTime(), bytes: diskUse(all, id)}
		list, total = append(list, m), total+m.bytes
	}
	slices.SortStableFunc(list, func(a, b measured) int { return a.changed.Compare(b.changed) })
	return list, total
}

// errKeep says that a session is not to be removed.
var errKeep = errors.New("in use, or not a session")

// remove deletes one session that nobody writes. It takes the lock, so that nobody begins to, and renames the
// directory first, so that half a session is never seen.
func remove(all *os.Root, id agenttool.SessionID) error {
	name := string(id)
	info, err := all.Lstat(name + "/" + logName)
	if errors.Is(err, fs.ErrNotExist) {
		if all.Remove(name) == nil { // what a process left that was killed before the first record
			return nil
		}
		return errKeep // there are files in it that are not ours
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errKeep
	}
	f, err := openRegular(all, name+"/"+logName, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := flock(f, unix.LOCK_EX); errors.Is(err, ErrLocked) {
		return errKeep
	} else if err != nil {
		return err
	}
	if err := all.Rename(name, prunedPrefix+name); err != nil {
		return err
	}
	return all.RemoveAll(prunedPrefix + name)
}

// sweep removes what is left of sessions whose removal was cut short.
func sweep(all *os.Root) error {
	entries, err := fs.ReadDir(all.FS(), ".")
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), prunedPrefix)
		if ok && e.IsDir() && validID(agenttool.SessionID(id)) {
			errs = append(errs, all.RemoveAll(e.Name()))
		}
	}
	return errors.Join(errs...)
}
