// Package output stores the output of a job and returns it as text.
//
// A [Log] takes both streams of a command in the order of arrival. It keeps the newest output in a ring. Once the
// output exceeds a small size, it writes every byte to one payload of the session, so the payload's digest is that of
// the output. An offset in the output, a cursor, always means the same byte.
//
//	log := output.New(output.Options{Open: func() (agenttool.Payload, error) {
//		return reporter.Payload("output", "text/plain; charset=utf-8")
//	}})
//	out := output.Pump(log, output.Stdout, pipe)
//	page := log.Read(output.Request{From: cursor, Max: 30_000})
//
// # Text
//
// Readings return text. Escape sequences are removed, a line that was redrawn with carriage returns has its last
// state, backspaces are applied, other control characters are removed, and invalid UTF-8 becomes U+FFFD. Every
// newline is kept. A line begins at the beginning of the page, or of a run of one stream in it. Returned text cannot
// be changed, so a line that is redrawn across two pages appears in both states.
//
// # Cursors
//
// A page may begin at any byte. If a cursor cuts a rune or an escape sequence, the page with its end shows it
// completely: Read looks up the beginning in the same stream before the page, even across many bytes of the other
// stream. This is possible because sequences have bounded length: they end at a newline and after 8 KiB. So the text
// of each stream does not depend on the ends of pages, with one exception: an incomplete rune at the end of the
// output becomes U+FFFD, unless its page was read before the output ended and continued with the other stream.
//
// # Streams
//
// The log remembers at least the newest 32 Ki switches between the streams. Older output is returned for both
// streams: the bytes are kept, but their label is lost.
//
// # Bounds
//
// A log holds 1 MiB of bytes, half a MiB of labels, and 16 KiB of the beginning of each stream. If the payload did
// not accept some bytes (a full disk, a limit) and the ring has dropped them, they are lost, and pages report the
// gap: [Page.Missing].
package output
