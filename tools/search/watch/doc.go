// Package watch tells what changed in directories since it was last asked.
//
//	w, err := watch.New()
//	id, err := w.Add(int(dir.Fd())) // watch first, list the directory after that
//	...
//	err = w.Drain(func(e watch.Event) { ... })
//
// The system queues an event before the system call that made the change returns. Drain reads the queue itself until
// it is empty, so that a search that drains first knows of every change that was made before it began; a library that
// hands events over from a goroutine of its own could not say that.
//
// # What is not told
//
// Events follow names, not files. These changes have no event in the directories that are watched, and who needs them
// must look at the status of the files once in a while:
//
//   - a write to a file with several names through a name in a directory that is not watched, and the making of such
//     a name elsewhere; only the new name's directory tells of a link
//   - a write through a descriptor that was opened without a name, with O_TMPFILE, in a directory that is not watched
//   - a store to a shared mapping, until the mapping ends and the file was closed; a write by io_submit, until the file is
//     closed
//   - which file was written through a descriptor whose name was removed and is another file's by now: the event is of that
//     name
//   - a write that reached the file by its handle, as a network file server's does
//   - a mount on a directory, the end of one of several mounts of a file system, a rename of a directory above the ones
//     that are watched, and the removal of a directory that somebody, this process too, still has open
//
// Below a directory that was moved the watches go on, although their paths are others now.
//
// Linux only: elsewhere New fails with errors.ErrUnsupported.
package watch
