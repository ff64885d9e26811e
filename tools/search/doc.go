// Package search is the tools grep and glob: they look through the files below one directory, in this process.
//
//	grep := search.New(w, engine.New(engine.Options{}))[0]
//	call, err := grep.Bind(scope, []byte(`{"pattern":"func main","glob":"*.go"}`))
//	err = w.Locate(&call.Facts().Reads[0])
//	out, err := call.Run(ctx, reporter)
//
// # What is looked at
//
// Everything below the search root, by directory descriptors and without following a link, so that nothing outside
// is reached. Left out are .git, toolhost's own state, names that begin with a dot unless hidden is set, and what
// .gitignore, .git/info/exclude, core.excludesFile and .ignore files say unless no_ignore is set (packages tree and
// ignore). Ignore files count without a repository too, from the workspace root on. The search root itself is never
// ignored: whoever names it wants it. grep reads regular files only; glob lists links too, as names. What a rule denies,
// or holds secrets, is passed over by both, and counted.
//
// # Order and limits
//
// Paths come in the byte order of their slash-separated spelling, whatever runs in parallel. A search ends once it
// knows that there is something after its page, and says then that its total is a lower bound; it ends after 20
// seconds with what it has, and says so. What could not be searched is counted, never silent: binary files with a match
// (a NUL in the first 64 KiB; of those the first 256 KiB are searched), unreadable ones, FIFOs, sockets and devices, and
// what is too large: a line, or with multiline a file, above 64 MiB, or so large that one match of the pattern, which
// cannot be interrupted, could take seconds.
//
// # Lines
//
// Without multiline a match lies within one line; the line's end, \n or \r\n, is not part of it. With multiline the
// lines that a match touches are the matching lines, \r\n is read as \n, and "." matches \n. \w, \d and \b are ASCII.
// Columns are bytes from 1, submatches are byte offsets into the text as it is shown: at most 500 characters around
// the match, invalid UTF-8 as U+FFFD. UTF-16 with a byte order mark is read as text.
//
// How searches are fast, and stay exact, is told in package engine.
package search
