package agenttool

// Job is work that goes on after the call that began it was answered: a command that is still running, or processes that
// a command left behind.
type Job interface {
	// ID is its name in the session: a word, never used again.
	ID() string

	// Done is closed when nothing of it is left.
	Done() <-chan struct{}

	// Final says how it ended. It is called once, after Done; the host fills ids, sequence and timestamp, and tells it as
	// the job's one announcement.
	Final() Progress

	// Status says how it is now. It may look at the process table.
	Status() JobStatus
}

// JobStatus is one job as agenttool/status lists it.
type JobStatus struct {
	ID           string       `json:"job"`
	InvocationID InvocationID `json:"invocation_id"`
	Command      string       `json:"command"`
	Cwd          string       `json:"cwd"`
	State        JobState     `json:"state"`
	PID          int          `json:"pid,omitempty"` // of the first process; 0 after it has ended
	AgeMS        int64        `json:"age_ms"`        // since its start
	Bytes        int64        `json:"bytes"`         // of output so far
	Lines        int64        `json:"lines"`
	LastLine     string       `json:"last_line,omitempty"`
	ExitCode     *int         `json:"exit_code,omitempty"` // null while it runs, and when a signal ended it
	Ports        []JobPort    `json:"ports,omitempty"`
	WaitsFor     *JobWait     `json:"waits_for,omitempty"`
	Asks         []string     `json:"asks,omitempty"`    // the hosts that a user is asked about while it is held
	Running      []string     `json:"running,omitempty"` // names of its processes, when its command has exited
}

// JobState is how a job is.
type JobState string

// The states of a job.
const (
	JobRunning   JobState = "running"
	JobWaiting   JobState = "waiting_for_input" // a process of it is blocked reading its input
	JobAsking    JobState = "waiting_for_user"  // it is held at a wall of its sandbox while a user is asked
	JobLingering JobState = "lingering"         // the command has exited, processes that it started live on
	JobEnded     JobState = "ended"
)

// JobPort is a listening port of a process of a job.
type JobPort struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
	PID     int    `json:"pid"`
	Command string `json:"command"`
	Forward string `json:"forward,omitempty"` // the machine's address that leads to it, see toolhost jobs forward
}

// JobWait is the process that is blocked reading a job's input.
type JobWait struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	On      string `json:"on"` // terminal or stdin
}
