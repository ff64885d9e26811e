// Package search provides the tools grep and glob, which search the files below a directory in this process.
//
//	grep := search.New(w, engine.New(engine.Options{}))[0]
//	call, err := grep.Bind(scope, []byte(`{"pattern":"func main","glob":"*.go"}`))
//	err = w.Locate(&call.Facts().Reads[0])
//	out, err := call.Run(ctx, reporter)
//
// # Searched files
//
// Searches cover everything below the search root. They use directory descriptors and follow no link, so that nothing
// outside is reached. They omit .git, toolhost's own state, names that begin with a dot unless hidden is set, and
// names that .gitignore, .git/info/exclude, core.excludesFile and .ignore exclude unless no_ignore is set (packages
// tree and ignore). Files that git tracks are searched even if one of git's rules names them. Outside a repository the
// ignore files from the workspace root down count too. The search root itself is never ignored, because the caller
// named it. grep reads regular files only; glob also lists links, as
// names. Both skip and count files that a rule denies or that hold secrets, and say how many names were left out.
//
// # What a pattern names
//
// The names of a pattern up to the first one with a wildcard are what the caller named, like a path: the search begins
// in the directory that they name, even if a rule ignores it, it is hidden, or a link leads there. Reads in the facts
// of a call has each such directory, so that links are located and judged before they are followed. A pattern without
// wildcards names a file, or all below a directory. A pattern without a slash names nothing, and matches names at any
// depth. Brackets stand for a set and for themselves, braces without a comma for themselves, too. Text with commas is a
// list of patterns; those with ! leave files out. Of more than 16 named paths none is named, all are only compared.
//
// # Order and limits
//
// Paths come in the byte order of their slash-separated spelling, even if the search runs in parallel; directories that
// patterns name come one after the other. A search ends
// once it knows that there is more after its page, and then reports its total as a lower bound. After 20 seconds it
// ends with the results so far, and says so. Every file that could not be searched is counted: binary files with a
// match (they hold a NUL and are no UTF-16; of those that begin like no text the first 256 KiB are searched), unreadable
// ones, FIFOs, sockets and devices, and too large ones: a line, or with multiline a file, above 64 MiB, or so large that one match of the
// pattern, which cannot be interrupted, could take seconds.
//
// # Lines
//
// Without multiline a match lies within one line; the line's end, \n or \r\n, is not part of it. With multiline the
// lines that a match touches are the matching lines, \r\n is read as \n, and "." matches \n. \w, \d and \b are ASCII.
// Columns are bytes from 1, submatches are byte offsets into the text as it is shown: at most 500 characters around
// the match. Text in the encodings of package encoding is searched and shown as UTF-8.
//
// Package engine describes how searches are fast and stay exact.
package search
