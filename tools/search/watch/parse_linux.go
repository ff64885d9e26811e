package watch

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const (
	names = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	gone  = unix.IN_MOVE_SELF | unix.IN_IGNORED
)

// parse decodes the inotify_event structs in b, and reports whether one of them signals lost events.
func parse(b []byte, each func(Event)) (overflow bool) {
	for len(b) >= unix.SizeofInotifyEvent {
		head, rest := b[:unix.SizeofInotifyEvent], b[unix.SizeofInotifyEvent:]
		size := uint64(binary.NativeEndian.Uint32(head[12:]))
		if size > uint64(len(rest)) {
			return true // the kernel never splits an event; a split one would count as lost
		}
		mask := binary.NativeEndian.Uint32(head[4:])
		if mask&unix.IN_Q_OVERFLOW != 0 {
			overflow = true
		} else if e, ok := event(mask, rest[:size]); ok {
			e.Dir, e.Move = ID(binary.NativeEndian.Uint32(head)), binary.NativeEndian.Uint32(head[8:])
			each(e)
		}
		b = rest[size:]
	}
	return overflow || len(b) > 0
}

// event decodes mask and the NUL-padded name. IN_UNMOUNT is ignored because IN_IGNORED follows.
func event(mask uint32, padded []byte) (e Event, ok bool) {
	name, _, _ := bytes.Cut(padded, []byte{0})
	e.Name = string(name)
	switch {
	case mask&gone != 0:
		e.Gone = true
	case mask&(names|unix.IN_ISDIR) != 0: // a subdirectory that became readable is treated like a new one
		e.Names = true
	case mask&changes == 0:
		return e, false
	}
	return e, true
}
