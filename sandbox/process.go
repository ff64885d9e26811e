package sandbox

import (
	"syscall"
	"time"
)

// Ended is how a command ended.
type Ended struct {
	Status       syscall.WaitStatus
	User, System time.Duration
	MaxRSS       int64 // KiB, of its largest process
	Alone        bool  // nobody was left that it had started
}

// Confinement is what a command runs in.
type Confinement struct {
	Profile Access   `json:"profile"`
	Level   Level    `json:"level"`
	Partial []string `json:"partial,omitempty"` // what is protected and could not be covered, and why
}
