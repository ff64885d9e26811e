// Package ignore holds the rules of ignore files: what a name means to .gitignore, .git/info/exclude and
// core.excludesFile, exactly as it means it to git, and to .ignore. It does no IO.
//
//	repo := ignore.ReadRepository(read, env)
//	top := (*ignore.Rules)(nil).Enter("", repo).AddGit("", gitignore)
//	sub := top.AddGit("sub/", subGitignore)
//	skip := sub.Ignores("sub/", "x.o", false)
//
// The last rule that matches wins: of the .gitignore in the innermost directory that has one to say, else of
// info/exclude, else of core.excludesFile. .ignore files decide before all of these. A rule with ! brings back what
// an earlier one leaves out, but nothing below an ignored directory, since nobody looks there.
//
// Where versions of git differ, the newest counts. Three things are other than in git: of the patterns of one file that
// are neither a name, a path nor a "*.ending", those beyond the first 256 KiB do not count; one name takes about a
// millisecond at most, whatever all files hold, and rules that were not tried by then do not match it (5,000 patterns
// that all have to be tried are not too many, see steps.go); and configuration that is included on a condition is not
// read.
//
// What a repository's own files name counts only where the Reader lets it: rules tell who sees what they leave out
// what is in the file that they come from.
package ignore
