// Package persist stores a session: the journal of its events, and the payloads that are too large for a result.
//
//	store := persist.New(persist.Options{Dir: "/home/me/.local/state/toolhost/sessions", ID: id})
//	err := store.Reserve(ctx)                                  // before anything that has side effects
//	seq, err := store.Append(started)                          // before any event is sent
//	p, err := store.Payload(inv, "stdout", "text/plain", "full_output")
//	ref, err := p.Close()                                      // after writing to it
//	page, err := store.Page(ref.URI, 0, 0)
//	err = store.Close()
//
// # On disk
//
// A session is a directory, mode 0700, with files of mode 0600. It is created with the first record, never before.
//
//	<Dir>/<session id>/log.jsonl                 the journal
//	<Dir>/<session id>/results/<inv>.<name>      a payload
//	<Dir>/<session id>/refs.jsonl                references of the payloads, one a line, in the order of closing
//	<Dir>/<session id>/pruned.jsonl              the payloads that Prune removed, one a line
//	<Dir>/<session id>/calls.idx                 the places of calls in the journal: see [Calls]
//	<Dir>/prune.json                             when Prune last ran by itself
//
// One line of the journal is one record:
//
//	line  = `{"seq":` seq `,"prev":"` hash `","event":` event `}` LF
//	seq   = decimal, 1 for the first line, then one more for each
//	hash  = 64 lower-case hexadecimal digits: SHA-256 of the line before, without its LF; zeros for the first
//	event = an Agent Tool event, a JSON object without LF
//
// The first record is tool.x.session.opened, whose data contains the format of the log, 1 (also the default). A
// session of a later format is left unchanged: see [ErrNewer]. In every format, lines of the above form are chained
// in the same way, and other lines begin `{"format":N,`, so that every version can tell them from changed lines. A
// session that ended in order ends with tool.x.session.closed, whose data contains the number of records before it
// (count) and the hash of the line before it (head); with written_afterwards, if a later process wrote it and the ends
// of calls before it, since its own process died: see [EndAfterwards]. A resumed session continues with another opened
// record. Records that could not be written are counted in one tool.x.journal.gap record as soon as writing works again.
//
// # Guarantees
//
// A group of records is one write: after SIGKILL the journal is intact up to its last line feed, and any bytes after
// that are dropped when the session is resumed. A failed write is undone. One process writes, under an exclusive
// flock on log.jsonl, which ends with the process. Records are on disk within a second, and at once after
// [Store.Sync]: a power failure loses at most the last second. A closed payload is on disk before the records that were
// appended after it, with one wait for all payloads of a second. Lines with bytes that never reached the disk (NUL) are
// then reported as [Unwritten], which differs from changed, and so are payloads that are shorter or have blocks of NUL.
//
// # A disk that stalls
//
// One goroutine writes, from a queue ([Store.Submit]). Callers choose how long they wait for it, so a disk that does
// not answer blocks them no longer. The queue holds at most 4,096 events and 8 MiB. Events beyond that are lost, and
// counted in a gap record when the disk continues.
//
// Verify finds every change before the last line. It cannot notice that whole lines were cut off the end of an open
// session, nor that the file was rewritten from the first line: for that, compare its head with a copy that was
// stored elsewhere.
//
// An ephemeral session has the same methods and keeps all in memory, within limits.
package persist
