// Package engine searches trees of files, exactly and in path order.
//
//	e := engine.New(engine.Options{})
//	defer e.Close()
//	sum, err := e.Grep(ctx, engine.Root{Dir: dir, Path: "/home/me/project"}, engine.Query{Pattern: p},
//		func(found engine.Part) bool { …; return true })
//
// # One way, cold and warm
//
// Every search goes through the list of the tree (package tree), whose names are verified at each call, by the status of
// each directory or by events, and visits its files in path order, in batches that several goroutines work on and that are handed over
// one after the other. For each file one question is asked: may it hold a match? Cold, the answer is yes, and the file is
// searched. Warm, an index of the content may say no, or name the parts to look at; but what the index says counts only
// for a file whose status is that of the moment when it was indexed. So a search never shows what was, and never waits
// for the index: a file that changed, or is not in the index yet, is searched as in a cold search.
//
// Even to ask that question of a hundred thousand files takes milliseconds. So a search of a whole watched tree writes down
// which file each chunk of the index is of, and which files must be visited in any case; until something is told of
// the tree, later searches go from the chunks that the index names to their files, and count the others (calm). What
// must not be read is found out once for a list, too (denials).
//
// # How a file is known to be unchanged
//
// Strict: by its status (device, inode, size, times) at every call. Watched: by the kernel's events, which are read at
// the beginning of each call, and by its status until the first call after it was watched. A file with several names is
// always asked for its status, and one that was changed less than 20 ms ago is not indexed yet. Not seen before the
// next look at all files, which follows at most half a minute later, are in watched mode: stores into a shared mapping
// that is still mapped, a write by io_submit to a file that is still open, a write through a descriptor that was opened by a
// name that is another file's by now, and a write through a hard link that was made, since the file was indexed, outside of
// what is listed. Not seen by either, before the kernel writes it back, is a store into a page of a shared mapping that was dirty already.
//
// # Bounds
//
// Results wait for their turn in at most a few hundred KiB for each batch; the index has a cap, is dropped when nobody
// searched for ten minutes, and is built by one thread of the lowest priority.
package engine
