package job

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
)

// Wait configures a wait.
type Wait struct {
	Limit time.Duration // maximum time, not counting open prompts; 0: do not wait
	Until time.Time     // when the wait ends although a prompt is open; zero: never
	Every time.Duration // interval of checks whether the job waits for input, and of calls of Tick; 0: 250 ms
	Tick  func()        // may be nil
}

// WaitEnd is the reason why a wait ended.
type WaitEnd uint8

// The reasons.
const (
	Exited  WaitEnd = iota // the command has exited
	Limit                  // the time is over
	Waiting                // the job waits for input
	Done                   // the context is done
)

// lookEvery is the interval of checks of a job during a wait.
const lookEvery = 250 * time.Millisecond

// Await waits until the command exits or another reason ends the wait.
func (j *Job) Await(ctx context.Context, w Wait) WaitEnd {
	w.Every = cmp.Or(w.Every, lookEvery)
	limit := time.NewTimer(w.Limit)
	defer limit.Stop()
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-j.settled:
			return Exited
		case <-limit.C:
			if len(j.caller.asks()) == 0 || !w.Until.IsZero() && time.Now().After(w.Until) {
				return j.unlessExited(Limit)
			}
			limit.Reset(w.Every) // the time of an open prompt does not count
		case <-ctx.Done():
			return j.unlessExited(Done)
		case <-tick.C:
			if w.Tick != nil {
				w.Tick()
			}
			if j.Waits() != nil {
				return j.unlessExited(Waiting)
			}
		}
	}
}

// unlessExited returns a, or Exited if the command has exited meanwhile.
func (j *ending) unlessExited(a WaitEnd) WaitEnd {
	if isClosed(j.settled) {
		return Exited
	}
	return a
}

// Until describes the output to wait for.
type Until struct {
	From  int64          // where the reading begins
	Limit time.Duration  // maximum time; 0: do not wait
	Exit  bool           // until the command has exited
	Match *regexp.Regexp // until it matches a line from From on; an incomplete last line counts
	Quiet time.Duration  // until there was no output for so long
	Input bool           // until it waits for input, and not before
}

// Without Exit, Match, Quiet and Input, the first new byte ends the wait, after a short pause for further output.
const (
	pause    = 50 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// maxWaits bounds the concurrent waits for output: each occupies its call.
const maxWaits = 256

// AwaitOutput waits as u describes, but no longer than until the job ends or waits for input. It reports whether
// Match matched. The error is of class rate_limited: there are too many waits.
func (j *Job) AwaitOutput(ctx context.Context, u Until) (matched bool, err error) {
	defer j.jobs.waits.Add(-1)
	if j.jobs.waits.Add(1) > maxWaits {
		return false, agenttool.Failure(agenttool.RateLimited, "too_many_waits", fmt.Sprintf(
			"%d readings wait for output already: read without wait_ms, or when some have ended", maxWaits))
	}
	return j.awaitOutput(ctx, u), nil
}

func (j *Job) awaitOutput(ctx context.Context, u Until) (matched bool) {
	caller := ctx // the search for a match covers all existing output, however short the wait
	ctx, cancel := context.WithTimeout(ctx, u.Limit)
	defer cancel()
	var exit <-chan struct{}
	if u.Exit {
		exit = j.settled
	}
	w := outputWait{Until: u, job: j, began: time.Now()}
	if u.Match != nil {
		w.matcher = j.log.Match(u.Match, u.From, 0)
	}
	for {
		changed := j.log.Changed()
		over := j.over() // before the last check, so that all output is there
		enough, next := w.enough(caller)
		if enough || over || w.waits() {
			return w.matched
		}
		if u.Exit || u.Input || u.Quiet > 0 || !w.first.IsZero() { // do not wake up for each line
			changed = nil
		}
		select {
		case <-changed:
		case <-exit:
		case <-j.group.done:
		case <-time.After(next):
		case <-ctx.Done():
			w.enough(caller)
			return w.matched
		}
	}
}

// outputWait is the state of a wait for output.
type outputWait struct {
	Until
	job     *Job
	began   time.Time
	first   time.Time // time of the first new output
	looked  time.Time
	matcher *output.Match
	matched bool
}

// enough reports whether the wait is over, and otherwise the time until the next check.
func (w *outputWait) enough(ctx context.Context) (ok bool, next time.Duration) {
	stats := w.job.log.Stats()
	switch {
	case w.Exit:
		return isClosed(w.job.settled), lookEvery
	case w.Input:
		return isClosed(w.job.settled), quiet / 2
	case w.matcher != nil:
		_, w.matched, _ = w.matcher.Step(ctx) // its error is the end of ctx
		return w.matched, lookEvery
	case w.Quiet > 0:
		return w.idle(stats.LastWrite, w.Quiet)
	case stats.Bytes <= w.From:
		return false, lookEvery
	}
	if w.first.IsZero() {
		w.first = time.Now()
	}
	if time.Since(w.first) > maxPause {
		return true, 0
	}
	return w.idle(stats.LastWrite, pause)
}

// idle reports whether there was no output for d.
func (w *outputWait) idle(last time.Time, d time.Duration) (ok bool, next time.Duration) {
	if last.Before(w.began) && w.Quiet > 0 {
		last = w.began
	}
	silent := time.Since(last)
	return silent >= d, min(max(d-silent, time.Millisecond), lookEvery)
}

// waits reports whether the job waits for input. It checks only now and then.
func (w *outputWait) waits() bool {
	if time.Since(w.looked) < lookEvery && !w.Input {
		return false
	}
	w.looked = time.Now()
	return w.job.Waits() != nil
}
