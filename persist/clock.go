package persist

import (
	"maps"
	"os"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// clockName is the file beside the sessions with the record of the last Prune.
const clockName = "prune.json"

// Prune must distinguish a clock that jumped from time that passed: after more than doubtAfter without a run it
// trusts the clock only after doubtFor.
const (
	doubtAfter = 7 * 24 * time.Hour
	doubtFor   = 24 * time.Hour
)

// clock is the content of that file.
type clock struct {
	Ran   time.Time                         `json:"ran"`
	Doubt time.Time                         `json:"doubt,omitzero"` // since when the clock is in doubt
	Ahead map[agenttool.SessionID]time.Time `json:"ahead,omitempty"`
}

// LastPrune returns when [Prune] last ran in dir without being asked; zero: never, or nobody knows.
func LastPrune(dir string) time.Time {
	all, err := os.OpenRoot(dir)
	if err != nil {
		return time.Time{}
	}
	defer all.Close()
	return readClock(all).Ran
}

func readClock(all *os.Root) (seen clock) {
	if b, err := all.ReadFile(clockName); err == nil {
		_ = json.Unmarshal(b, &seen) // an unreadable note is none
	}
	return seen
}

// write saves the record. Without it the next run trusts the clock.
func (c *clock) write(all *os.Root) {
	if b, err := json.Marshal(c); err == nil {
		_ = all.WriteFile(clockName, b, fileMode)
	}
}

// jumped reports whether the clock may have jumped ahead, and records the current time. A wrong clock looks like a
// machine that was switched off; a clock that is still the same a day later is trusted.
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

// age returns how long ago a session was used. A session with a time in the future, because one of the clocks was
// wrong, would be kept forever: its age counts from the first time that Prune saw it.
func (seen *clock) age(u RecentSession, now time.Time) time.Duration {
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

// forget drops the records of sessions that no longer exist.
func (seen *clock) forget(left []endedSession) {
	there := map[agenttool.SessionID]bool{}
	for _, s := range left {
		there[s.ID] = true
	}
	maps.DeleteFunc(seen.Ahead, func(id agenttool.SessionID, _ time.Time) bool { return !there[id] })
}
