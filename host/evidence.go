package host

import (
	"sync"

	"toolhost/agenttool"
)

// evidence are the records that calls refer to. The journal holds each of them once, before or with the first call that names it.
type evidence struct {
	guard   sync.Mutex
	written map[string]bool // by kind and name
}

// maxWritten bounds what is remembered: clients may name policies as they like. Then records are written again.
const maxWritten = 4096

// refers returns those of the records that a call refers to and that the journal does not hold.
func (j *journal) refers(c *call) []agenttool.Event {
	var events []agenttool.Event
	if j.first("policy " + c.batch.policyKey()) {
		events = append(events, j.event(agenttool.Event{EventType: agenttool.EventSchedulerPolicy}, "scheduler_policy", c.policy()))
	}
	events = append(events, j.created(c.surface)...)
	if e := c.tool; e != nil && j.first("tool "+string(e.Declaration.ToolID)) {
		events = append(events, j.event(agenttool.Event{EventType: agenttool.EventDeclared, ToolID: e.Declaration.ToolID},
			"declaration", e.Declaration, "interface", e.Interface, "execution_profile", e.Execution, "permission_profile", e.Permission))
	}
	return events
}

// created is the event of a surface that the journal does not hold.
func (j *journal) created(s agenttool.Surface) []agenttool.Event {
	if !j.first("surface " + string(s.SurfaceID)) {
		return nil
	}
	return []agenttool.Event{j.event(agenttool.Event{EventType: agenttool.EventSurfaceCreated}, "surface", s)}
}

// first reports whether a record is new, and remembers it.
func (w *evidence) first(name string) bool {
	w.guard.Lock()
	defer w.guard.Unlock()
	if w.written[name] {
		return false
	}
	if w.written == nil || len(w.written) >= maxWritten {
		w.written = map[string]bool{}
	}
	w.written[name] = true
	return true
}
