// Package watch reports changes in directories since the last call.
//
//	w, err := watch.New()
//	id, err := w.Add(int(dir.Fd())) // watch first, list the directory after that
//	...
//	err = w.Drain(func(e watch.Event) { ... })
//
// The kernel queues an event before the system call that made the change returns. Drain reads the queue itself until
// it is empty, so a search that drains first knows every change from before its start. A library that delivers events
// from its own goroutine could not guarantee that.
//
// # Unreported changes
//
// Events follow names, not files. The following changes cause no event in the watched directories. Callers that must
// notice them have to check the status of the files from time to time:
//
//   - a write to a file with several names through a name in a directory that is not watched, and the creation of such
//     a name elsewhere; a new link is reported only in the directory of the new name
//   - a write through a descriptor that was opened without a name, with O_TMPFILE, in a directory that is not watched
//   - a store to a shared mapping, until the mapping ends and the file is closed; a write by io_submit, until the file
//     is closed
//   - the identity of a file that was written through a descriptor after its name was removed and reused: the event
//     carries that name
//   - a write that reached the file by its handle, as a network file server's does
//   - a mount on a directory, the end of one of several mounts of a file system, a rename of a directory above the
//     watched ones, and the removal of a directory that a process, including this one, still has open
//
// A directory that is moved stays watched, although its path changed.
package watch
