package watch

import "errors"

// ID stands for a watched directory. The same directory has the same ID as long as it is watched; an ID is not given
// to another one later.
type ID uint32

// Event is one change.
//
// Names set: the names in Dir changed, or what they stand for: Name was made, removed or renamed, or is a directory
// whose status changed. With Name "" it is the status of Dir itself, which may be readable now or no longer.
//
// Neither set: the content or the status of Name changed. A Name that Dir does not hold, or a special one like "#12",
// comes from a descriptor whose name was removed or never given: the file may have another name by now, in Dir or
// elsewhere, under which it changed too.
//
// Gone set: Dir itself was removed, moved or unmounted. After a move its watch lives on until Remove. Gone is told too
// when a watch ends by Remove.
type Event struct {
	Dir   ID
	Name  string // in Dir; bytes as the system has them
	Names bool
	Gone  bool
	Move  uint32 // what the two events of a rename have in common, that of the old name first; 0: it is none
}

var (
	// ErrLimit means that the system grants no further watch, or no further Watcher. What is not watched must be
	// looked at instead. Only who runs the machine can raise the limits, fs.inotify.max_user_watches and
	// max_user_instances.
	ErrLimit = errors.New("the limit of inotify watches is reached")

	// ErrOverflow means that events were lost, in any directory: everything may have changed.
	ErrOverflow = errors.New("the queue of inotify events ran over")
)
