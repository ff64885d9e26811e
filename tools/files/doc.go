// Package files is the tools read, write and edit. They share one memory of what the session has seen of each file.
//
//	tools := files.New(w, files.Options{})
//	call, err := tools[2].Bind(scope, []byte(`{"path":"go.mod","old_string":"go 1.25","new_string":"go 1.26"}`))
//	… // the host locates the paths of call.Facts() and decides
//	out, err := call.Run(ctx, reporter)
//
// # What is kept
//
// write and edit keep all that they were not asked to change: encoding, byte order mark, line endings, final newline,
// mode, owner, extended attributes, further names of the file, and the links that lead to it. What cannot be kept is
// refused and nothing is changed.
//
//   - Encodings are UTF-8, UTF-16 with a byte order mark, and, for what is not valid UTF-8 and holds no NUL, one byte a
//     character, called "iso-8859-1 (assumed)". Into that last one only ASCII is written, unless the file looks like
//     Latin-1 throughout. A file with NUL characters is binary and neither shown nor edited.
//   - edit matches exactly. A string with LF and no CR also matches CRLF (or CR, where a file has nothing else), and what
//     replaces it is then written with the line ending of the place. No match begins inside a CRLF.
//   - write replaces the whole content but not the encoding and byte order mark. Line endings are written as given, save
//     in one case: a file that is wholly CRLF (or wholly CR) stays so when the new content has LF only. The result's note
//     says that.
//
// # What is refused
//
// write replaces a file only when the session has read or written just that content, all of it. edit needs no reading
// before; on a file that changed since the session last saw it, it goes ahead only where every old_string stands exactly
// once, and says so.
//
// # How files are written
//
// Under an advisory lock (flock) on the file, through a temporary file in the same directory that is renamed over the
// old one, after a last look that the old one is still what was read. A new file is renamed or linked into place, so that
// it never replaces another. Where a rename would lose something (further hard links, an owner or attribute that cannot be
// set) or is not possible (a directory without write permission, a mount point) the file is rewritten in place, with the
// space reserved before and the old bytes put back if it fails half way: that is not atomic, and the result says that it
// was done. If this process or the machine ends just then, the file holds a mixture. So does a new file, of its beginning,
// on the few file systems that know neither a rename which replaces nothing nor hard links. Directories that were made for
// a new file stay if that fails. Unless [Options] ask for more there is no fsync: a change survives the end of this
// process, not of the machine. Between the last look and the rename a writer that ignores locks can lose its change: some
// microseconds, or as long as it takes to read the file, where it had just been changed before and its time stamp may
// tell nothing.
//
// # Limits
//
// read takes files of any size in bounded memory. Of a text in UTF-8 of more than 32 MiB it looks at no more than it needs:
// as long as it has not come to the end, the total is a minimum, and what the file is like is said of the part that was
// seen. What is behind the end that a file had when it was opened is not read. What read finds out about the last 16 files
// it keeps as long as their status (size, times) is the same. A store into memory that a program has mapped for writing is
// seen in the lines at once, in the total and the line numbers only when the kernel has written it back. A page has up to
// 2,000 lines and 30,000 characters, or as many lines as the call asks for, up to 10,000, and then up to 120,000
// characters; of a line it has 2,000 characters.
// write and edit hold a file in memory and refuse more than 64 MiB.
package files
