package keep

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Calls that are older than minAge make room for others, the oldest first; those that are older than maxAge go when another call comes.
const (
	minAge = time.Hour
	maxAge = 14 * 24 * time.Hour

	maxCalls = 2000

	trimPause = 10 * time.Second // between two looks through the store
)

// stored is a call in the store.
type stored struct {
	dir   string
	bytes int64
	ended time.Time
}

// take reserves room for a content. Content that is only linked takes room as well: the disk has it for as long as the store does.
func (s *Store) take(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.free < size && now.Sub(s.trimmed) > trimPause { // a full store is not looked through for each file
		s.trim(size, now)
	}
	if s.free < size {
		return errors.New("the copies of the last hour leave no room for it")
	}
	s.free -= size
	return nil
}

// trim removes old calls, and the oldest ones until the rest leaves room for so many bytes.
func (s *Store) trim(room int64, now time.Time) {
	calls := s.calls()
	slices.SortFunc(calls, func(a, b stored) int { return a.ended.Compare(b.ended) })
	s.trimmed, s.free = now, maxStore
	for _, call := range calls {
		s.free -= call.bytes
	}
	for i, call := range calls {
		age := now.Sub(call.ended)
		if age > maxAge || age > minAge && (s.free < room || len(calls)-i > maxCalls) {
			lock, err := lockCall(call.dir, 0)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				continue // it goes on, or is being undone
			}
			if os.RemoveAll(call.dir) == nil {
				s.free += call.bytes
			}
			if lock != nil {
				lock.Close()
			}
		}
	}
}

// calls are those of the store. One that goes on counts with what it has so far.
func (s *Store) calls() (calls []stored) {
	entries, _ := os.ReadDir(s.Dir)
	for _, e := range entries {
		call := stored{dir: filepath.Join(s.Dir, e.Name())}
		_ = filepath.WalkDir(call.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if info.Mode().IsRegular() {
				call.bytes += info.Size()
			}
			if path == filepath.Join(call.dir, journalName) || path == call.dir && !d.IsDir() {
				call.ended = info.ModTime()
			}
			return nil
		})
		calls = append(calls, call)
	}
	return calls
}
