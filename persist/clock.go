package persist

import (
	"encoding/json"
	"maps"
	"os"
	"time"

	"toolhost/agenttool"
)

// clockName is the file beside the sessions in which Prune notes when it ran.
const clockName = "prune.json"

// How Prune tells a clock that jumped from time that passed: after more than doubtAfter without a run it waits for
// doubtFor until it believes the clock.
const (
	doubtAfter = 7 * 24 * time.Hour
	doubtFor   = 24 * time.Hour
)

// clock is the note in that file.
type clock struct {
	Ran   time.Time                         `json:"ran"`
	Doubt time.Time                         `json:"doubt,omitzero"` // since when the clock is doubted
	Ahead map[agenttool.SessionID]time.Time `json:"ahead,omitempty"`
}

func readClock(all *os.Root) (seen clock) {
	if b, err := all.ReadFile(clockName); err == nil {
		_ = json.Unmarshal(b, &seen) // an unreadable note is none
	}
	return seen
}

// write keeps the note. Without it the next run believes the clock.
func (c *clock) write(all *os.Root) {
	if b, err := json.Marshal(c); err == nil {
		_ = all.WriteFile(clockName, b, fileMode)
	}
}

// jumped reports whether the clock may have jumped ahead, and notes what it says now. Nothing tells a wrong clock
// from a machine that was switched off; a clock that is still the same a day later is believed.
func (seen *clock) jumped(now time.Time) bool {
	switch {
	case now.Before(seen.Doubt): // it was wrong, and is right again
		seen.Doubt = time.Time{}
	case !seen.Doubt.IsZero() && now.Sub(seen.Doubt) >= doubtFor:
		seen.Doubt = time.Time{}
	case seen.Doubt.IsZero() && !seen.Ran.IsZero() && now.Sub(seen.Ran) > doubtAfter:
		seen.Doubt = now
	}
	seen.Ran = now
	return !seen.Doubt.IsZero()
}

// age is how long ago a session was used. One whose time lies ahead of the clock, because one of the two was wrong, would be kept for
// good: its age counts from when it was first seen so.
func (seen *clock) age(u Used, now time.Time) time.Duration {
	if !u.Changed.After(now.Add(clockSlack)) {
		delete(seen.Ahead, u.ID)
		return now.Sub(u.Changed)
	}
	since, known := seen.Ahead[u.ID]
	if !known || since.After(now) {
		if seen.Ahead == nil {
			seen.Ahead = map[agenttool.SessionID]time.Time{}
		}
		since, seen.Ahead[u.ID] = now, now
	}
	return now.Sub(since)
}

// forget drops the notes on sessions that are gone.
func (seen *clock) forget(left []stored) {
	there := map[agenttool.SessionID]bool{}
	for _, s := range left {
		there[s.ID] = true
	}
	maps.DeleteFunc(seen.Ahead, func(id agenttool.SessionID, _ time.Time) bool { return !there[id] })
}
