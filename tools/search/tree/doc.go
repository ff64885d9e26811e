// Package tree knows what is below a directory, as searches see it.
//
//	t := tree.New(tree.Place{Root: root, Path: "/home/me/project", Top: "/home/me/project"}, tree.Options{})
//	defer t.Close()
//	list, err := t.Refresh(ctx)
//	for _, f := range list.Files {
//		fmt.Println(f.Path())
//	}
//
// # What is left out
//
// The name .git always, private directories always; names that begin with a dot unless Hidden is set; what
// .gitignore, .ignore and git's own excludes say unless NoIgnore is set. The search root itself is never left out.
// Links are names and nothing more: none is followed, neither on the way to a directory nor to an ignore file below
// the root. The user's own git configuration outside the root is read as git reads it, through links.
//
// Rules tell who sees what they leave out what is in the file that they come from. So what a repository's own files
// name (core.excludesFile, an include, the directory of git's) counts only within Place.Top and the repository, or in a
// directory that holds what a directory of git's does; and no rules come from a file that is Denied.
//
// # How it stays right
//
// The first Refresh lists every directory, several at a time. A later one asks for the status of each directory and
// of each file that rules came from, and lists again only what changed. A directory's status tells of its names, not
// of the content of its files: whoever keeps something about content compares a Stamp. A change that came so soon
// after the listing that the clock of a file system may not show it is found too, since such a directory is listed
// again the next time; so is one whose names changed within two seconds before it, where the file system keeps
// whole seconds. All this needs a file system that keeps its directories' times, as local ones do.
//
// A List never changes. What is the same in the next one is the same pointer there, so that what was learned of a
// file stays with it.
//
// # Limits
//
// Names of one directory: 1,048,576; what is beyond counts as one unreadable directory. Names of the tree: 4,194,304,
// with long directory paths and ignore files weighing more; then the list is partial. A directory whose path below
// the root is longer than 4,096 bytes cannot be opened by any program and counts as unreadable. An ignore file counts
// with the whole lines of its first MiB.
package tree
