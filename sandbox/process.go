package sandbox

import (
	"syscall"
	"time"
)

// ExitState is how a command ended.
type ExitState struct {
	Status       syscall.WaitStatus
	User, System time.Duration
	MaxRSS       int64 // KiB, of its largest process
	Alone        bool  // no process that it had started was left
}

// Confinement describes the sandbox of a command.
type Confinement struct {
	Profile Access   `json:"profile"`
	Level   Level    `json:"level"`
	Partial []string `json:"partial,omitempty"` // protected files that could not be covered, and why
}
