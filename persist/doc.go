// Package persist keeps a session: the journal of its events, and the payloads that are too large for a result.
//
//	store := persist.New(persist.Options{Dir: "/home/me/.local/state/toolhost/sessions", ID: id})
//	err := store.Reserve(ctx)                                  // before anything that has side effects
//	seq, err := store.Append(started)                          // before anybody is told
//	p, err := store.Payload(inv, "stdout", "text/plain", "full_output")
//	ref, err := p.Close()                                      // after writing to it
//	page, err := store.Page(ref.URI, 0, 0)
//	err = store.Close()
//
// # On disk
//
// A session is a directory, mode 0700, of files of mode 0600. It is made at the first record, never before.
//
//	<Dir>/<session id>/log.jsonl                 the journal
//	<Dir>/<session id>/results/<inv>.<name>      a payload
//	<Dir>/<session id>/refs.jsonl                references of the payloads, one a line, in the order of closing
//	<Dir>/<session id>/pruned.jsonl              the payloads that Prune removed, one a line
//	<Dir>/prune.json                             when Prune last ran by itself
//
// One line of the journal is one record:
//
//	line  = `{"seq":` seq `,"prev":"` hash `","event":` event `}` LF
//	seq   = decimal, 1 for the first line, then one more for each
//	hash  = 64 lower-case hexadecimal digits: SHA-256 of the line before, without its LF; zeros for the first
//	event = an Agent Tool event, a JSON object without LF
//
// The first record is tool.x.session.opened, whose data names the format of the log, 1 (a log that names none has 1 too). A
// session of a later format is left alone: see [ErrNewer]. A line of the form above is chained as above in every format; another one begins
// `{"format":N,`, so that every version can tell it from one that was changed. The last one of a session that ended in order is tool.x.session.closed,
// whose data holds the number of records before it (count) and the hash of the line before it (head). A session that
// is resumed goes on with another opened record. Records that could not be written are counted in one
// tool.x.journal.gap record as soon as writing works again.
//
// # What holds
//
// A group of records is one write: after SIGKILL the journal is whole up to its last line feed, and what follows that
// is dropped when the session is resumed. A write that fails is taken back. One process writes, under an exclusive
// flock on log.jsonl; a process that dies lets go of it. Records are on the disk within a second, and at once after [Store.Sync]:
// a power cut costs the last second at most. Lines that hold bytes that the disk never got (NUL) are [Unwritten] then, which
// is something else than changed.
//
// # A disk that stalls
//
// One goroutine writes, from a queue ([Store.Submit]). Callers wait for it as long as they choose: a disk that does not answer
// costs them that, and no more. The queue holds 4,096 events and 8 MiB at most. What does not fit is lost, and counted in a gap
// record when the disk goes on.
//
// Verify finds every change before the last line. It cannot find that whole lines were cut off the end of a session
// that is open, nor that somebody wrote the file anew from the first line: for that, compare its head with one that
// was kept elsewhere.
//
// An ephemeral session has the same methods and keeps all in memory, within limits.
package persist
