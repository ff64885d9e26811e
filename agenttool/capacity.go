package agenttool

import "time"

// Capacity is how much a caller takes of one result. A zero field sets no limit.
type Capacity struct {
	Bytes int       // of text
	Lines int       // of text
	Until time.Time // when the caller stops waiting for a command
}

// remarkBytes and remarkLines are the parts of a capacity that pages leave to the remarks of tool and host.
const (
	remarkBytes = 1500
	remarkLines = 20
)

// Page returns the room for a page of at most so many bytes and lines, without the remarks that follow it. 0 is any number.
func (c Capacity) Page(bytes, lines int) (int, int) {
	return within(bytes, c.Bytes, remarkBytes), within(lines, c.Lines, remarkLines)
}

// within returns n, or the rest of a limit beside remarks if that is less. For both 0 means any number.
func within(n, limit, remarks int) int {
	if limit == 0 {
		return n
	}
	if room := max(limit-remarks, limit/2); n == 0 || n > room {
		return room
	}
	return n
}

// leastWait is how long a command is waited for if its approval took all of the time that the caller waits.
const leastWait = time.Second

// Wait returns the time that remains for a wait of at most that long.
func (c Capacity) Wait(most time.Duration) time.Duration {
	if c.Until.IsZero() {
		return most
	}
	return min(most, max(time.Until(c.Until), leastWait))
}

// Holds reports whether the caller takes a text whole.
func (c Capacity) Holds(bytes, lines int) bool {
	return (c.Bytes == 0 || bytes <= c.Bytes) && (c.Lines == 0 || lines <= c.Lines)
}
