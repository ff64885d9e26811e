package job

import (
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// watch finds out whether a job waits for input. It is safe for concurrent use.
type watch struct {
	started time.Time
	input   *Input
	group   *group
	log     *output.Log

	mu   sync.Mutex
	last look
}

// look is what was last seen of a job that may wait for input.
type look struct {
	at     time.Time
	waiter *proc.Waiter // nil: none
	bytes  int64        // of output
	cpu    uint64       // that its processes had used
	steady bool         // it had neither said anything nor worked since the look before
}

const (
	quiet    = 200 * time.Millisecond // without output and input, before a job is taken to wait
	sameLook = 2 * time.Second        // two looks that are further apart are not compared
)

// waits returns the process that waits for the job's input: it is blocked reading, the job was silent for a moment, got no input
// in that time, and has not worked meanwhile. Nil: there is none, or it cannot be known.
func (w *watch) waits() *agenttool.JobWait {
	if w.input.to == nil || w.group.over() {
		return nil
	}
	w.mu.Lock() // many may ask; one looks for all of them
	defer w.mu.Unlock()
	if before := w.last; time.Since(before.at) > quiet/2 { // looks that are too close see no difference
		w.last = w.look()
		w.last.steady = w.last.at.Sub(before.at) > sameLook || before.waiter == nil ||
			before.bytes == w.last.bytes && before.cpu == w.last.cpu
	}
	seen, now := w.last, time.Now()
	if seen.waiter == nil || !seen.steady || now.Sub(w.log.Stats().LastWrite) < quiet || now.Sub(w.input.last()) < quiet || now.Sub(w.started) < quiet {
		return nil
	}
	return &agenttool.JobWait{PID: seen.waiter.PID, Command: seen.waiter.Command, On: seen.waiter.On}
}

// look looks at the job's processes.
func (w *watch) look() look {
	seen := look{at: time.Now(), bytes: w.log.Stats().Bytes}
	all := w.group.processes()
	for _, p := range all {
		seen.cpu += p.CPU
	}
	if waiter, ok := proc.Waiting(all, w.input.end); ok {
		seen.waiter = &waiter
	}
	return seen
}
