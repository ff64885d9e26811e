// Package output keeps what a job says and tells it again.
//
// A [Log] takes both streams of a command in the order in which they come. It holds the newest of it in a ring and,
// once there is more than a little, every byte in one payload of the session, so that the payload's digest is that of
// the output. An offset in it, a cursor, means the same byte for ever.
//
//	log := output.New(output.Options{Open: func() (agenttool.Payload, error) {
//		return reporter.Payload("output", "text/plain; charset=utf-8")
//	}})
//	out := output.Pump(log, output.Stdout, pipe)
//	page := log.Read(output.Request{From: cursor, Max: 30_000})
//
// # Text
//
// What is read is text: escape sequences are gone, a line that was drawn several times with carriage returns has its
// last state, backspaces have taken back, other control characters are gone, invalid UTF-8 is U+FFFD. Every newline is
// kept. A line begins where the page, or the run of one stream in it, does: what was told cannot be taken back, so a
// line that is drawn again across two pages is told in both states.
//
// # Cursors
//
// A page may begin at any byte. What a cursor cuts is whole in the page in which it ends: a rune or an escape sequence
// that began before the page, in the same stream, is looked up there, however many bytes of the other stream lie
// between. That is possible because how far back a sequence can begin is bounded: a newline ends it, and so do 8 KiB.
// So each stream's text does not depend on where pages end, with one exception: half a rune whose other half never
// comes is told as U+FFFD at the end of the output, unless its page was read before the output ended and went on with
// the other stream.
//
// # Streams
//
// Where the streams change is remembered for the newest 32 Ki changes at least. What is older is told with both
// streams: the bytes stay, their label is gone.
//
// # Bounds
//
// A log holds 1 MiB of bytes, half a MiB of labels, and 16 KiB of the beginning of each stream. What the payload did
// not take (a full disk, a limit) and the ring has forgotten is nowhere, and pages name it: [Page.Missing].
package output
