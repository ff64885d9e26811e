package job

import (
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// watch determines whether a job waits for input. It is safe for concurrent use.
type watch struct {
	started time.Time
	input   *Input
	group   *group
	log     *output.Log

	mu    sync.Mutex
	last  look
	pumps []*output.Pumping // of its output, until it is over
}

// follow has the watch read what the job said before it began to wait.
func (w *watch) follow(pumps []*output.Pumping) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pumps = pumps
}

// look is an observation of a job that may wait for input.
type look struct {
	at     time.Time
	waiter *proc.Waiter // nil: none
	bytes  int64        // of output
	cpu    uint64       // used by its processes so far
	steady bool         // it has neither written output nor used CPU time since the look before
}

const (
	quiet    = 200 * time.Millisecond // time without output and input, before a job counts as waiting
	sameLook = 2 * time.Second        // looks that are further apart are not compared
)

// waits returns the process that waits for the job's input: it is blocked reading, and for a moment the job has
// produced no output, received no input and used no CPU time. All that it said before is in the log. Nil: there is none, or it is unknown.
func (w *watch) waits() *agenttool.JobWait {
	if w.input.to == nil || w.group.over() {
		return nil
	}
	w.mu.Lock() // one look serves all concurrent callers
	defer w.mu.Unlock()
	if before := w.last; time.Since(before.at) > quiet/2 { // looks that are too close together show no difference
		w.last = w.look()
		w.last.steady = w.last.at.Sub(before.at) > sameLook || before.waiter == nil ||
			before.bytes == w.last.bytes && before.cpu == w.last.cpu
	}
	seen, now := w.last, time.Now()
	if seen.waiter == nil || !seen.steady || now.Sub(w.log.Stats().LastWrite) < quiet || now.Sub(w.input.last()) < quiet || now.Sub(w.started) < quiet {
		return nil
	}
	output.Drain(0, w.pumps...) // on a busy machine its question may not be read yet
	if w.log.Stats().Bytes != seen.bytes {
		return nil
	}
	return &agenttool.JobWait{PID: seen.waiter.PID, Command: seen.waiter.Command, On: seen.waiter.On}
}

// look examines the job's processes.
func (w *watch) look() look {
	seen := look{at: time.Now(), bytes: w.log.Stats().Bytes}
	all := w.group.processes()
	for _, p := range all {
		seen.cpu += p.CPU
	}
	if waiter, ok := proc.Waiting(all, w.input.end); ok {
		waiter.Command = w.group.shown(waiter.Command)
		seen.waiter = &waiter
	}
	return seen
}
