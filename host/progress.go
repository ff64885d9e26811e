package host

import (
	"time"

	"toolhost/agenttool"
)

// noticeable is how long a call waits until its caller is told of it. Shorter waits are not worth a record.
const noticeable = time.Second

// announceWait tells the caller, should the call still be in a state after a noticeable time, with a status of progress. stop ends that.
func announceWait(c *call, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) (stop func() bool) {
	rec := c.rec
	return time.AfterFunc(noticeable, func() { says(c, rec, in, phase, p) }).Stop
}

// says writes and sends progress of the host's own, if the call is in a state. In a batch with ordered progress it says nothing: the wait would
// be over when it is told.
func says(c *call, rec *record, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) {
	if c.batch.ordered() {
		return
	}
	p = rec.step(p)
	if rec.emitIn(in, agenttool.EventProgress, "phase", phase, "progress", p) && rec.flush() == nil && c.req.Caller.Progress != nil {
		c.req.Caller.Progress(p)
	}
}
