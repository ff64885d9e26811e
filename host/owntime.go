package host

import (
	"fmt"
	"sync"
	"time"

	"toolhost/agenttool"
)

// ownLimit is how long a call without a deadline may take for what it does by itself, unless it says another limit.
const ownLimit = time.Minute

// ownTime bounds what a call without a deadline does by itself: look at files, write them, start a command. A file system that never answers
// would keep it for ever. It stands still while the call waits for others, who are bounded where that is right: hooks, a person, the command that it
// runs. It begins again while the call waits for calls before it that are not stuck. The zero value bounds nothing.
type ownTime struct {
	mu    sync.Mutex
	timer *time.Timer   // nil: nothing is bounded
	left  time.Duration // when it stood still last, or began to run
	since time.Time     // when it began to run
	waits int           // for how many others it waits
	limit time.Duration
}

// begin starts the time; over is called when it is used up.
func (o *ownTime) begin(limit time.Duration, over func(limit time.Duration)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit, o.left, o.since = limit, limit, time.Now()
	o.timer = time.AfterFunc(limit, func() {
		o.mu.Lock()
		used := o.waits == 0 && o.timer != nil
		limit := o.limit
		o.mu.Unlock()
		if used {
			over(limit)
		}
	})
}

// set makes the time that is left another one.
func (o *ownTime) set(limit time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit, o.left, o.since = limit, limit, time.Now()
	if o.timer != nil && o.waits == 0 {
		o.timer.Reset(limit)
	}
}

// wait has the time stand still until done is called, more than once at will.
func (o *ownTime) wait() (done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waits++; o.waits == 1 && o.timer != nil {
		o.timer.Stop()
		o.left -= time.Since(o.since)
	}
	return sync.OnceFunc(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.waits--; o.waits == 0 && o.timer != nil {
			o.since = time.Now()
			o.timer.Reset(max(o.left, 0))
		}
	})
}

// renew begins the time again.
func (o *ownTime) renew() {
	o.mu.Lock()
	limit := o.limit
	o.mu.Unlock()
	o.set(limit)
}

// end stops the time for good.
func (o *ownTime) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

// outOfTime ends a call whose own time is used up, unless it waits for calls that are not stuck.
func (c *call) outOfTime(limit time.Duration) {
	place, what := c.queuing.Load(), "a file system that the call needs"
	switch {
	case place != nil && !place.BehindStuck():
		c.own.renew()
		return
	case place != nil:
		what = "a file system that holds up a call before this one"
	case c.host.o.Store.Stalled():
		what = "the disk of the session log"
	}
	c.cancel(agenttool.Failure(agenttool.Timeout, "deadline_exceeded", fmt.Sprintf("%s did not answer for %s", what, limit)))
}
