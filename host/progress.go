package host

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"toolhost/agenttool"
)

// reporter is the face that a call shows to its tool.
type reporter struct{ c *call }

// Progress implements agenttool.Reporter.
func (r reporter) Progress(p agenttool.Progress) {
	rec := r.c.rec
	if !rec.due() {
		return
	}
	p = rec.step(p)
	if r.c.batch.ordered() {
		if rec.hold(p, r.c.before) {
			return
		}
		r.c.release(rec)
	}
	r.c.progressed(rec, p)
}

// progressed writes progress and sends it. Progress that is not recorded is not sent.
func (c *call) progressed(rec *record, steps ...agenttool.Progress) {
	for _, p := range steps {
		rec.emit(agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", p)
	}
	if err := rec.flush(); err != nil || c.req.Caller.Progress == nil {
		return
	}
	for _, p := range steps {
		c.req.Caller.Progress(p)
	}
}

// release writes and sends progress that waited for the call's turn in its batch.
func (c *call) release(rec *record) {
	if steps := rec.unhold(); len(steps) > 0 {
		c.progressed(rec, steps...)
	}
}

// Payload implements agenttool.Reporter.
func (r reporter) Payload(name, mediaType string) (agenttool.Payload, error) {
	file := name
	if r.c.approval.attempt > 1 {
		file += "-" + strconv.Itoa(r.c.approval.attempt)
	}
	return r.c.host.o.Store.Payload(r.c.rec.id, file, mediaType, file)
}

// Begun implements [agenttool.Beginner].
func (r reporter) Begun() (over func()) {
	over = r.c.own.wait()
	r.c.own.set(ownLimit)
	return over
}

// Invocation implements agenttool.Reporter.
func (r reporter) Invocation() agenttool.InvocationID { return r.c.rec.id }

// progressInterval is the shortest time between two progress records that a tool reports.
const progressInterval = 100 * time.Millisecond

// due reports whether a tool may report progress now, and counts the time from here if it may.
func (r *record) due() bool {
	now := r.journal.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing == elsewhere || r.ended || now.Sub(r.lastStep) < progressInterval {
		return false
	}
	r.lastStep = now
	return true
}

// step numbers a progress record and completes it.
func (r *record) step(p agenttool.Progress) agenttool.Progress {
	now := r.journal.now()
	r.mu.Lock()
	r.steps++
	p.Sequence = r.steps
	r.mu.Unlock()
	p.SchemaVersion, p.InvocationID = agenttool.SchemaVersion, r.id
	p.ProgressID, p.Timestamp = agenttool.ProgressID(r.journal.ids.New("prog_", now)), agenttool.Timestamp(now)
	p.Status = cmp.Or(p.Status, "running")
	return p
}

// maxHeld is how many progress records wait for a call's turn. Older ones are dropped: each says all that the ones before it say.
const maxHeld = 100

// hold keeps a progress record until before is closed, and reports whether it did.
func (r *record) hold(p agenttool.Progress, before <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-before:
		return false
	default:
	}
	if before == nil {
		return false
	}
	if len(r.held) == maxHeld {
		r.held = slices.Delete(r.held, 0, 1)
	}
	r.held = append(r.held, p)
	return true
}

// unhold takes the progress records that waited.
func (r *record) unhold() []agenttool.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := r.held
	r.held = nil
	return steps
}

// told reports whether the caller heard of progress before the call runs.
func (r *record) told() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steps > 0
}

// noticeable is how long a call waits until its caller hears of it. Shorter waits are not worth a record.
const noticeable = time.Second

// announceWait sends progress to the caller if the call is still in that state after a noticeable time. stop cancels this.
func announceWait(c *call, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) (stop func() bool) {
	rec := c.rec
	return time.AfterFunc(noticeable, func() { says(c, rec, in, phase, p) }).Stop
}

// says records progress of the host itself, and sends it to the caller, if the call is in that state. In a batch with ordered
// progress it does nothing: the wait would be over before the progress has its turn.
func says(c *call, rec *record, in agenttool.InvocationStatus, phase agenttool.Phase, p agenttool.Progress) {
	if c.batch.ordered() {
		return
	}
	p = rec.step(p)
	if rec.emitIn(in, agenttool.EventProgress, "phase", phase, "progress", p) && rec.flush() == nil && c.req.Caller.Progress != nil {
		c.req.Caller.Progress(p)
	}
}
