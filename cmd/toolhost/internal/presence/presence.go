// Package presence tells sessions whether a person answers prompts: toolhost approve touches a file while it runs, and a session
// waits longer for an answer if that was recent.
package presence

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"toolhost/cmd/toolhost/internal/dirs"
)

// File is the name of the file, in the state directory. Its time says when toolhost approve last ran.
const File = "approve.seen"

// recent is how long ago toolhost approve may have run.
const recent = 24 * time.Hour

// slack is how far ahead of this clock another one may be that set the file's time.
const slack = 10 * time.Minute

// Recent reports whether toolhost approve ran within a day.
func Recent() bool {
	state, err := dirs.State()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(state, File))
	return err == nil && within(info.ModTime(), time.Now())
}

// within reports whether approve, which was seen at a time, ran within a day of now. A time that lies ahead is that of a clock that was
// wrong: it would count for good.
func within(seen, now time.Time) bool {
	ago := now.Sub(seen)
	return -slack < ago && ago < recent
}

// Touch sets the time of the file. Where that fails, sessions wait less for an answer.
func Touch() {
	dir, err := dirs.State()
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	path := filepath.Join(dir, File)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_ = f.Close()
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// Keep touches the file now and every minute, until ctx ends.
func Keep(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		Touch()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
