package sandbox

import "syscall"

// ExitState is how a command ended.
type ExitState struct {
	Status syscall.WaitStatus
	Alone  bool // no process that it had started was left

	WithHolder bool // it ended since the process ended that held the sandbox of the session

	Unserved error // why the supervisor could not serve calls of the command, which failed; nil: it served all
}

// Signaled is a signal that a process of a command got from another command of the session.
type Signaled struct {
	By      string // the [Command.Name] of the other
	Signal  syscall.Signal
	Program string // the name of the process, which it chooses
}

// Confinement describes the sandbox of a command.
type Confinement struct {
	Profile Access   `json:"profile"`
	Level   Level    `json:"level"`
	Partial []string `json:"partial,omitempty"` // protected files that could not be covered, and why
}
