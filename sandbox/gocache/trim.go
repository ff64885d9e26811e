package gocache

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// How long entries stay, as in go's own cache.
const (
	usedEvery = time.Hour
	trimEvery = 24 * time.Hour
	unusedFor = 5 * 24 * time.Hour
)

// used notes that files are in use. It fails for the user's, which cannot be written.
func used(files ...string) {
	now := time.Now()
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > usedEvery {
			_ = os.Chtimes(name, now, now)
		}
	}
}

// trim removes entries that were not used for long, once a day.
func (c Cache) trim(now time.Time) {
	note := filepath.Join(c.Dir, "trim.txt")
	if info, err := os.Stat(note); err == nil && now.Sub(info.ModTime()) < trimEvery {
		return
	}
	if os.WriteFile(note, strconv.AppendInt(nil, now.Unix(), 10), 0o666) != nil {
		return // it cannot be written
	}
	files, _ := filepath.Glob(filepath.Join(c.Dir, "[0-9a-f][0-9a-f]", "*"))
	for _, name := range files {
		if info, err := os.Lstat(name); err == nil && now.Sub(info.ModTime()) > unusedFor {
			os.Remove(name)
		}
	}
}
