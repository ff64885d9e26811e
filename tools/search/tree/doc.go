// Package tree lists the files below a directory for searches and keeps the list up to date.
//
//	t := tree.New(tree.Place{Root: root, Path: "/home/me/project", Top: "/home/me/project"}, tree.Options{})
//	defer t.Close()
//	list, err := t.Refresh(ctx)
//	for _, f := range list.Files {
//		fmt.Println(f.Path())
//	}
//
// # Omitted names
//
// The list never contains the name .git or private directories. It omits names that begin with a dot unless Hidden is
// set, and names that match .gitignore, .ignore or git's own excludes unless NoIgnore is set. Symbolic links are listed as names: no link is followed, neither on the way to a directory nor to
// an ignore file below the root. The user's own git configuration outside the root is read as git reads it, through
// links.
//
// Git's rules do not omit what git tracks: a file that was added by force is listed, and of an ignored directory that
// holds such files nothing else. The index that says so is read when a rule names something in its repository for the
// first time, and again when it changed. A .ignore file, which is for searches only, omits tracked files too.
//
// The search root itself is never omitted. If a rule ignores it or a directory above it, no rule from above counts
// below it. If its own .gitignore ignores all that it holds, as those of caches and virtual environments do, that file
// does not count either, unless git tracks some of it.
//
// Rules can leak the content of the file that holds them to a person who sees which names they omit. So files that a
// repository names itself (core.excludesFile, an include, git's directory) count only within Place.Top and the
// repository, or in a directory with the content of a git directory; and no rules are read from a Denied file.
//
// # Keeping the list right
//
// The first Refresh lists every directory, several at a time. Later ones check the status of each directory and of
// each file with rules, and list only changed directories again. The status of a directory covers its names, not the
// content of its files: callers that cache content must compare a Stamp. A change soon after a listing may leave the
// times unchanged because the clock of the file system is coarse. Such a directory is listed again at the next
// refresh; so is one that changed within two seconds before the listing on a file system that keeps whole seconds.
// All this needs a file system that keeps the times of directories, as local ones do.
//
// A List never changes. Unchanged files keep the same pointer in the next list, so that cached data about a file
// stays with it.
//
// # Limits
//
// One directory: 1,048,576 names; a directory with more counts as unreadable. The whole tree: 4,194,304 names, where
// long directory paths and ignore files weigh more; a larger list is partial. A directory with a path of more than
// 4,096 bytes below the root cannot be opened by any program and counts as unreadable. Of an ignore file the whole
// lines of its first MiB count. An index above 256 MiB, or one that is not understood, tracks nothing.
package tree
