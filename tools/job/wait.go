package job

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
)

// Wait says what to wait for.
type Wait struct {
	Limit time.Duration // at most; 0: for nothing
	Every time.Duration // between looks at whether the job waits for input, and calls of Tick; 0: 250 ms
	Tick  func()        // nil: nothing
}

// Why a wait was over.
type Awaited uint8

// The reasons.
const (
	Exited  Awaited = iota // the command has exited
	Limit                  // the time is over
	Waiting                // the job waits for input
	Done                   // the context is done
)

// lookEvery is how often a job that is waited for is looked at.
const lookEvery = 250 * time.Millisecond

// Await waits until the command exits, or for what else ends a wait.
func (j *Job) Await(ctx context.Context, w Wait) Awaited {
	if w.Every == 0 {
		w.Every = lookEvery
	}
	limit := time.NewTimer(w.Limit)
	defer limit.Stop()
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-j.settled:
			return Exited
		case <-limit.C:
			return j.unlessExited(Limit)
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

// unlessExited returns a, or Exited if the command made it in time.
func (j *Job) unlessExited(a Awaited) Awaited {
	if isClosed(j.settled) {
		return Exited
	}
	return a
}

// Until says when enough of a job's output is there.
type Until struct {
	From  int64          // where the reading begins
	Limit time.Duration  // at most; 0: at once
	Exit  bool           // when the command has exited
	Match *regexp.Regexp // when this matches a line from From on, or what there is of the last one
	Quiet time.Duration  // when nothing was said for so long
	Input bool           // when it waits for input, and not before
}

// With neither Exit, Match, Quiet nor Input, a first new byte is enough, and what comes right after it.
const (
	pause    = 50 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// maxWaits is how many may wait for output at once: each holds its call.
const maxWaits = 256

// AwaitOutput waits as u says, and in any case no longer than until the job ends or waits for input. It reports whether Match
// matched. The error is of class rate_limited: too many wait already.
func (j *Job) AwaitOutput(ctx context.Context, u Until) (matched bool, err error) {
	defer j.jobs.waits.Add(-1)
	if j.jobs.waits.Add(1) > maxWaits {
		return false, agenttool.Failure(agenttool.RateLimited, "too_many_waits", fmt.Sprintf(
			"%d readings wait for output already: read without wait_ms, or when some have ended", maxWaits))
	}
	return j.awaitOutput(ctx, u), nil
}

func (j *Job) awaitOutput(ctx context.Context, u Until) (matched bool) {
	caller := ctx // who looks for a match to the end of what there is, however short the wait
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
		over := j.over() // before the last look: what it said is there then
		enough, next := w.enough(caller)
		if enough || over || w.waits() {
			return w.matched
		}
		if u.Exit || u.Input || u.Quiet > 0 || !w.first.IsZero() { // each line would only wake us
			changed = nil
		}
		timer := time.NewTimer(next)
		select {
		case <-changed:
		case <-exit:
		case <-j.group.done:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			w.enough(caller)
			return w.matched
		}
		timer.Stop()
	}
}

// outputWait is a wait for output under way.
type outputWait struct {
	Until
	job     *Job
	began   time.Time
	first   time.Time // when there was something new
	looked  time.Time
	matcher *output.Match
	matched bool
}

// enough reports whether the wait is over, and otherwise when to look again.
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

// idle reports whether nothing was said for d.
func (w *outputWait) idle(last time.Time, d time.Duration) (ok bool, next time.Duration) {
	if last.Before(w.began) && w.Quiet > 0 {
		last = w.began
	}
	silent := time.Since(last)
	return silent >= d, min(max(d-silent, time.Millisecond), lookEvery)
}

// waits reports whether the job waits for input. It looks only now and then.
func (w *outputWait) waits() bool {
	if time.Since(w.looked) < lookEvery && !w.Input {
		return false
	}
	w.looked = time.Now()
	return w.job.Waits() != nil
}
