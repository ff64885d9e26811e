package sandbox

import (
	"fmt"

	"toolhost/agenttool"
)

// Level is [agenttool.Level].
type Level = agenttool.Level

// The levels by their short names.
const (
	Full           = agenttool.LevelFull
	LandlockNotify = agenttool.LevelLandlockNotify
	Landlock       = agenttool.LevelLandlock
	None           = agenttool.LevelNone
)

// Finding is the result of a probe.
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

// Missing is a level that the machine does not hold, and the failed step.
type Missing struct {
	Level Level  `json:"level"`
	Why   string `json:"why"`
}
