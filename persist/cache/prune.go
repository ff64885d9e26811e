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

	"toolhost/agenttool/remove"
)

// Limits configure Prune.
type Limits struct {
	MaxAge   time.Duration // since the last use; 0: 30 days; below 0: no limit
	MaxBytes int64         // of all caches; 0: 4 GiB; below 0: no limit
	Dry      bool          // remove nothing, and return the planned removals
}

const (
	defaultMaxAge   = 30 * 24 * time.Hour
	defaultMaxBytes = 4 << 30

	goneAfter = time.Hour // since the last use, for a workspace that does not exist: it may be about to be created again
	slack     = 10 * time.Minute
	leftover  = ".pruned-" // prefix of a cache that is being removed
)

// Prune removes the caches in dir that were not used for long or have no workspace any more. If the rest is too
// large, it removes the least recently used first. It keeps caches that a session uses and those of a newer version.
// It returns its removals even if some failed.
func Prune(dir string, o Limits, now time.Time) (removed []Entry, err error) {
	o.MaxAge = cmp.Or(o.MaxAge, defaultMaxAge)
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
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
		if e.Used.After(now.Add(slack)) { // the clock was wrong: the age counts from the first time that Prune sees it
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
			err := removeEntry(e, o.Dry)
			if err == nil {
				removed = append(removed, e)
				total -= e.Bytes
			} else if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, errReplaced) { // otherwise a session has started to use it
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

// touch records a use of a cache.
func touch(e Entry, when time.Time) error {
	f, err := openNote(e.Dir+noteEnd, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.write(note{version, e.Workspace, when})
}

// removeEntry deletes a cache that no session uses, and then its note. It renames the directory first, so that a
// half-deleted cache is never used.
func removeEntry(e Entry, dry bool) error {
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
	return errors.Join(remove.All(aside), os.Remove(f.path))
}

// sweep finishes interrupted removals.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), leftover) && e.IsDir() {
			errs = append(errs, remove.All(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
