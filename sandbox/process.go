package sandbox

import "syscall"

// ExitState is how a command ended.
type ExitState struct {
	Status syscall.WaitStatus
	Alone  bool // no process that it had started was left
}

// Confinement describes the sandbox of a command.
type Confinement struct {
	Profile Access   `json:"profile"`
	Level   Level    `json:"level"`
	Partial []string `json:"partial,omitempty"` // protected files that could not be covered, and why
}
