package sandbox

import (
	"fmt"
	"slices"
)

// Level is how much of a sandbox the machine holds, weakest last.
type Level string

// The levels.
const (
	Full           Level = "full"            // namespaces, mounts, Landlock, system call filter
	LandlockNotify Level = "landlock+notify" // no namespaces; the filter asks about what Landlock cannot hold
	Landlock       Level = "landlock"        // Landlock and a filter that cannot ask
	None           Level = "none"
)

// Levels are all levels, strongest first.
var Levels = []Level{Full, LandlockNotify, Landlock, None}

// AtLeast reports whether l holds what least holds.
func (l Level) AtLeast(least Level) bool {
	return slices.Index(Levels, l) >= 0 && slices.Index(Levels, l) <= slices.Index(Levels, least)
}

// ParseLevel reads the name of a level.
func ParseLevel(name string) (Level, error) {
	if slices.Contains(Levels, Level(name)) {
		return Level(name), nil
	}
	return "", fmt.Errorf("%q is no level: it is one of %v", name, Levels)
}

// Finding is what a probe found.
type Finding struct {
	Level       Level     `json:"level"`
	LandlockABI int       `json:"landlock_abi"`      // 0: none
	Missing     []Missing `json:"missing,omitempty"` // the stronger levels

	// Momentary says that descriptors, memory, processes or space on the disk were short: another probe may find more.
	Momentary bool `json:"-"`
}

// Why says what keeps the machine from more, "" if nothing does.
func (f Finding) Why() string {
	if len(f.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is missing: %s", f.Missing[0].Level, f.Missing[0].Why)
}

// Missing is a level that the machine does not hold, and what failed.
type Missing struct {
	Level Level  `json:"level"`
	Why   string `json:"why"`
}
