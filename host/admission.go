package host

import (
	"context"
	"time"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// turn is a call's place in the order of admission: among the calls that are prepared at once, and among those that wait
// for a slot and for locks. Both are taken together, so that no call waits for one behind it.
type turn struct {
	gate  *scheduler.Ticket
	place *scheduler.Ticket
	room  *scheduler.Ticket // of a call on files, from its start on
}

// pass gives the place among the prepared calls back, and that among those that hold content.
func (t turn) pass() {
	if t.gate != nil {
		t.gate.Release()
	}
	if t.room != nil {
		t.room.Release()
	}
}

// free gives the slot and the locks back, or the place in the line.
func (t turn) free() {
	if t.place != nil {
		t.place.Release()
	}
}

// admit takes the call's turn, after those of all calls admitted before. The caller holds h.mu.
func (h *Host) admit(c *call) {
	if c.actsOnJobs() {
		return
	}
	var group *scheduler.Group
	if c.batch != nil {
		group = c.batch.group
	}
	c.turn = turn{gate: h.gate.Enqueue(scheduler.Request{}), place: h.sched.Admit(group)}
	h.mayMove(c)
}

// again gives the call's turn up and waits for a new one behind all calls that were admitted meanwhile.
func (c *call) again(ctx context.Context) error {
	c.turn.free()
	c.turn.pass()
	c.host.mu.Lock()
	c.host.admit(c)
	c.host.mu.Unlock()
	if c.turn.place != nil && c.bound != nil {
		c.turn.place.Expect(c.locks())
		if !c.declared {
			c.host.stays(c)
		}
	}
	return c.enterGate(ctx)
}

// enterGate waits until the call is one of those that are prepared at once.
func (c *call) enterGate(ctx context.Context) error {
	if c.turn.gate == nil {
		return nil
	}
	return c.turn.gate.Wait(ctx)
}

// takeRoom waits until memory has room for the content that the call will hold. A call that runs a command holds little, and may run for long.
func (c *call) takeRoom(ctx context.Context) error {
	if c.host.room == nil || c.turn.room != nil || c.tool.Declaration.ToolKind != agenttool.KindFileOperation {
		return nil
	}
	room := c.host.room.Enqueue(scheduler.Request{})
	c.host.mu.Lock()
	c.turn.room = room
	c.host.mu.Unlock()
	return room.Wait(ctx)
}

// share is a part of the memory that the process may have, and no more than usual.
func (h *Host) share(of, usual int64) int64 {
	if h.o.Memory <= 0 {
		return usual
	}
	return min(usual, h.o.Memory/of)
}

// locatePatience is how long a call whose paths cannot be found holds up later ones: a network file system may be dead.
const locatePatience = time.Second

// locks are what the call needs while it runs, as far as its facts say.
func (c *call) locks() []agenttool.Lock {
	return scheduler.Locks(c.bound.Facts(), c.host.o.Policy.Workspace)
}
