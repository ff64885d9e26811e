// Package files provides the tools read, write and edit. They share a record of the file contents that the session
// has seen.
//
//	tools := files.New(w, files.Options{})
//	call, err := tools[2].Bind(scope, []byte(`{"path":"go.mod","old_string":"go 1.25","new_string":"go 1.26"}`))
//	… // the host locates the paths of call.Facts() and decides
//	out, err := call.Run(ctx, reporter)
//
// # What a change preserves
//
// write and edit preserve everything except the requested change: encoding, byte order mark, line endings, final
// newline, mode, owner, extended attributes, hard links, and symbolic links to the file. If they cannot preserve
// something, they fail and change nothing.
//
//   - Encodings are those of package encoding, which has the rule by which they are recognised; the input can say another. edit and
//     patches splice bytes: no byte outside the parts that change is written anew. write does so, too, with the parts of lines that differ.
//     Unless the encoding is certain or declared, a change is refused if it would cut a character in any encoding that the file may have.
//     One is refused, too, if the file would be shown in another encoding afterwards. Text with bytes that no encoding explains takes
//     only ASCII. ISO-2022 is shown as it is, and not changed. A file with NUL characters is binary, unless it is UTF-16, and is
//     neither shown nor edited.
//   - edit matches exactly. A string with LF and no CR also matches CRLF (or CR, if a file has only CR); the replacement
//     then gets the line ending of its place. No match begins inside a CRLF.
//   - write replaces the whole content but not the encoding and byte order mark; the input can say another encoding. Line endings are written as given, with
//     one exception: a file with only CRLF (or only CR) keeps that if the new content has only LF. The result's note says
//     so.
//
// # Refusals
//
// write replaces a file only if the session has read or written exactly this content, all of it. edit needs no
// reading before. If the file changed since the session last saw it, edit succeeds only if every old_string occurs
// exactly once, and notes the change.
//
// # How files are written
//
// A change holds an advisory lock (flock) on the file. It writes a temporary file in the same directory and renames
// it over the old one, after a last check that the old one is unchanged. A new file is renamed or linked into place
// without ever replacing another. If a rename would lose something (further hard links, an owner or attribute that
// cannot be set) or is impossible (a directory without write permission, a mount point), the file is rewritten in
// place. The space is reserved first, and after a failure the old bytes are restored. A rewrite is not atomic, and
// the result mentions it: if this process or the machine ends meanwhile, the file holds a mixture. The same holds for
// a new file on the few file systems that have neither an exclusive rename nor hard links. Directories that were
// created for a new file stay if the write fails. With [Options] for no durability there is no fsync: a change
// survives the end of this process, but not of the machine. A writer that ignores locks can lose its change if it
// writes between the last check and the rename. That window is some microseconds, or the time to read the file if its
// timestamps are too recent to show a change.
//
// # What read shows
//
//   - Text is shown as lines with numbers.
//   - A PNG, JPEG, GIF or WebP is recognised by its content and sent as an image, after it was decoded to its end: a
//     provider that refuses one image refuses the rest of the conversation. One with more than 2,000 pixels a side is scaled
//     to that, and of a GIF the first frame is sent as PNG. One that is broken, has more than 8,000 pixels a side or more
//     than 5 MiB, as a file or in base64, is described instead. So is an animated WebP.
//   - A Jupyter notebook of format 4 is shown as cells, with their texts and a summary of their outputs. An offset is a line
//     of the file, as elsewhere. A limit asks for the lines themselves, which edit changes. Cells do not count as seen.
//   - Other files are named with a shell command that shows what is in them. read does not run it: programs that take
//     hostile files apart belong into the sandbox of the shell.
//
// # Limits
//
// read handles files of any size in bounded memory. Of a UTF-8 text of more than 32 MiB it scans no more than needed, and does not look
// for escapes of ISO-2022:
// until the scan reaches the end, the total is a minimum, and the text's properties describe the scanned part. read
// ignores data that is appended after it opened the file. It caches its findings about the last 16 files while their
// status (size, times) is unchanged. A store into a shared mapping appears in the lines at once, but in the total and
// the line numbers only after the kernel has written it back. A page has up to 2,000 lines and 30,000 characters; if
// the call sets a limit, up to 10,000 lines and 120,000 characters. Lines are cut at 2,000 characters. write and edit
// hold a file in memory and refuse files of more than 64 MiB.
package files
