package host

import "toolhost/scheduler"

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
