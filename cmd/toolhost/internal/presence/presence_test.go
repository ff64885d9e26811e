package presence

import (
	"testing"
	"time"
)

// A wrong clock does not make anybody seem present for longer than a day.
func TestWithin(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]bool{
		0: true, time.Hour: true, 23 * time.Hour: true, 25 * time.Hour: false, -time.Minute: true, -time.Hour: false, -10 * 365 * 24 * time.Hour: false,
	} {
		if got := within(now.Add(-ago), now); got != want {
			t.Errorf("seen %v ago: %v", ago, got)
		}
	}
}
