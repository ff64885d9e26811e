package persist

import (
	"encoding/json"
	"os"
	"time"
)

// clockName is the file beside the sessions in which Prune notes when it ran.
const clockName = "prune.json"

// How Prune tells a clock that jumped from time that passed: after more than doubtAfter without a run it waits for
// doubtFor until it believes the clock.
const (
	doubtAfter = 7 * 24 * time.Hour
	doubtFor   = 24 * time.Hour
)

// clockJumped reports whether the clock may have jumped ahead, and notes what it says now. Nothing tells a wrong clock
// from a machine that was switched off; a clock that is still the same a day later is believed.
func clockJumped(all *os.Root, now time.Time) bool {
	var seen struct {
		Ran   time.Time `json:"ran"`
		Doubt time.Time `json:"doubt,omitzero"` // since when the clock is doubted
	}
	if b, err := all.ReadFile(clockName); err == nil {
		_ = json.Unmarshal(b, &seen) // an unreadable note is none
	}
	switch {
	case now.Before(seen.Doubt): // it was wrong, and is right again
		seen.Doubt = time.Time{}
	case !seen.Doubt.IsZero() && now.Sub(seen.Doubt) >= doubtFor:
		seen.Doubt = time.Time{}
	case seen.Doubt.IsZero() && !seen.Ran.IsZero() && now.Sub(seen.Ran) > doubtAfter:
		seen.Doubt = now
	}
	seen.Ran = now
	if b, err := json.Marshal(seen); err == nil {
		_ = all.WriteFile(clockName, b, fileMode) // without it the next run believes the clock
	}
	return !seen.Doubt.IsZero()
}
