// Package engine searches trees of files, exactly and in path order.
//
//	e := engine.New(engine.Options{})
//	defer e.Close()
//	sum, err := e.Grep(ctx, engine.Root{Dir: dir, Path: "/home/me/project"}, engine.Query{Pattern: p},
//		func(found engine.Part) bool { …; return true })
//
// # One path, cold and warm
//
// Every search uses the list of the tree (package tree). Each call verifies the names in the list, either by the
// status of each directory or by events. The search then visits the files in path order, in batches: several
// goroutines search batches, and the batches are handed over one after another. For each file the search asks whether
// the file may hold a match. Without an index the answer is yes, and the file is searched. With an index the answer
// may be no, or the parts to search, but the answer of the index counts only if the status of the file is the same as
// when it was indexed. So a search never returns stale content and never waits for the index: changed files and files
// that are not indexed yet are searched directly.
//
// Asking this question for a hundred thousand files takes milliseconds. So a search of a whole watched tree records
// the file that owns each chunk of the index, and the files that must always be visited. Until an event reports a
// change of the tree, later searches go from the chunks that the index names to their files and only count the others
// (candidateCache). The files that must not be read are also computed once per list (denials).
//
// # How a file is known to be unchanged
//
// Strict mode compares the status of each file (device, inode, size, times) at every call. Watched mode reads the
// kernel's events at the beginning of each call; it also compares the status of a file once, in the first call after
// the watch began. The status of a file with several names is always compared, and a file that changed less than 20
// ms ago is not indexed yet. Watched mode notices the following changes only when it next compares all files, at most
// half a minute later: stores into a shared mapping that is still mapped; a write by io_submit to a file that is
// still open; a write through a descriptor that was opened by a name that now belongs to another file; and a write
// through a hard link that was made outside of the list after the file was indexed. Neither mode notices a store into
// a page of a shared mapping that was already dirty, until the kernel writes the page back.
//
// # Encodings
//
// A file is searched by its bytes as long as only ASCII counts: as long as each match needs certain ASCII characters, and
// the lines with these are ASCII. All encodings of package encoding but UTF-16 have the same bytes for ASCII, so lines
// without them cannot match. Once another line counts, or if the pattern needs no ASCII, the search makes sure that the file is
// UTF-8. If it is not, its encoding is recognised, and the decoded text is searched instead. Of UTF-16 without a mark one of the first
// 4,096 bytes is a NUL.
//
// The index knows the bytes of files. It notes which are not UTF-8: patterns that need other characters than ASCII are
// looked for in these in any case.
//
// # Bounds
//
// Each batch buffers at most a few hundred KiB of results while it waits for its turn. The index has a size cap, is
// dropped after ten minutes without a search, and is built by one thread of the lowest priority.
package engine
