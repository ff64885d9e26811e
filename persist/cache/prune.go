package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Limits say which caches stay.
type Limits struct {
	MaxAge   time.Duration // since the last use; 0: 30 days; below 0: no limit
	MaxBytes int64         // of all caches; 0: 4 GiB; below 0: no limit
	Dry      bool          // remove nothing, and return what would be removed
}

const (
	defaultMaxAge   = 30 * 24 * time.Hour
	defaultMaxBytes = 4 << 30

	goneAfter = time.Hour // since the last use, for a workspace that does not exist: it may be just being made anew
	slack     = 10 * time.Minute
	leftover  = ".pruned-" // begins the name of a cache that is being removed
)

// Prune removes the caches in dir whose workspace is gone or that were not used for long, and then, the one that was used
// longest ago first, until the rest is not too large. It leaves alone those that a session uses and those that a newer
// version made. It returns what it removed also when some could not be.
func Prune(dir string, o Limits, now time.Time) (removed []Entry, err error) {
	if o.MaxAge == 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	var errs []error
	if !o.Dry {
		errs = append(errs, sweep(dir))
	}
	list, err := List(dir)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for i, e := range list {
		total += e.Bytes
		if e.Used.After(now.Add(slack)) { // the clock was wrong: the age counts from the first time that it is seen
			list[i].Used = now
			if !o.Dry && !e.InUse && !e.Newer {
				errs = append(errs, touch(e, now))
			}
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return cmp.Or(a.Used.Compare(b.Used), cmp.Compare(a.Dir, b.Dir)) })
	take := func(unwanted func(Entry) bool) {
		list = slices.DeleteFunc(list, func(e Entry) bool {
			if e.InUse || e.Newer || !unwanted(e) {
				return false
			}
			err := remove(e, o.Dry)
			if err == nil {
				removed = append(removed, e)
				total -= e.Bytes
			} else if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, errReplaced) { // else a session has begun to use it
				errs = append(errs, fmt.Errorf("remove cache %s: %w", e.Dir, err))
			}
			return err == nil
		})
	}
	take(func(e Entry) bool {
		age := now.Sub(e.Used)
		return o.MaxAge > 0 && age > o.MaxAge || e.Gone && age > goneAfter
	})
	take(func(e Entry) bool { return o.MaxBytes > 0 && total > o.MaxBytes && e.Bytes > 0 })
	return removed, errors.Join(errs...)
}

// touch notes that a cache was used at a time.
func touch(e Entry, when time.Time) error {
	f, err := openNote(e.Dir+noteEnd, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.write(note{version, e.Workspace, when})
}

// remove deletes a cache that no session uses, and then its note. It renames the directory first, so that half a cache
// is never used.
func remove(e Entry, dry bool) error {
	f, err := openNote(e.Dir+noteEnd, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f, unix.LOCK_EX); err != nil {
		return err
	}
	if n := f.read(); n.Version > version || n.Used.After(e.Used) {
		return errReplaced
	}
	if dry {
		return nil
	}
	aside := filepath.Join(filepath.Dir(e.Dir), leftover+filepath.Base(e.Dir))
	if err := os.Rename(e.Dir, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(removeAll(aside), os.Remove(f.path))
}

// removeAll is os.RemoveAll for trees that hold directories without permission to write, as Go's module cache does.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, dirMode) // before it is read; what fails is found by RemoveAll
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// sweep finishes removals that were cut short.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), leftover) && e.IsDir() {
			errs = append(errs, removeAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
