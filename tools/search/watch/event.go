package watch

import "errors"

// ID identifies a watched directory. It stays the same while the directory is watched and is not reused later.
type ID uint32

// Event is one change.
//
// Names set: the names in Dir changed. Name was created, removed, renamed or replaced, or is a directory with a
// changed status. With an empty Name the status of Dir itself changed: it may have become readable or unreadable.
//
// Neither set: the content or the status of Name changed. A Name that Dir does not contain, or a special one like
// "#12", comes from a descriptor whose name was removed or never existed. The file may have another name by now, in
// Dir or elsewhere, and changed under that name too.
//
// Gone set: Dir itself was removed, moved or unmounted. After a move its watch continues until Remove. Remove also
// causes an event with Gone.
type Event struct {
	Dir   ID
	Name  string // in Dir; bytes as the system has them
	Names bool
	Gone  bool
	Move  uint32 // shared by the two events of a rename, the old name first; 0: not a rename
}

var (
	// ErrLimit means that the system allows no further watch, or no further Watcher. Callers must check unwatched
	// directories themselves. Only an administrator can raise the limits, fs.inotify.max_user_watches and
	// max_user_instances.
	ErrLimit = errors.New("the limit of inotify watches is reached")

	// ErrOverflow means that events were lost, in any directory: everything may have changed.
	ErrOverflow = errors.New("the queue of inotify events ran over")
)
