package host

import (
	"time"

	"toolhost/agenttool"
)

// noticeable is how long a call waits until its caller hears of it. Shorter waits are not worth a record.
const noticeable = time.Second

// announceWait sends progress to the caller if the call is still in that state after a noticeable time. stop cancels this.
func announceWait(c *call, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) (stop func() bool) {
	rec := c.rec
	return time.AfterFunc(noticeable, func() { says(c, rec, in, phase, p) }).Stop
}

// says records progress of the host itself, and sends it to the caller, if the call is in that state. In a batch with ordered progress it does
// nothing: the wait would be over before the progress has its turn.
func says(c *call, rec *record, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) {
	if c.batch.ordered() {
		return
	}
	p = rec.step(p)
	if rec.emitIn(in, agenttool.EventProgress, "phase", phase, "progress", p) && rec.flush() == nil && c.req.Caller.Progress != nil {
		c.req.Caller.Progress(p)
	}
}
