// Package ignore evaluates the rules of ignore files: .gitignore, .git/info/exclude and core.excludesFile exactly as
// git does, and .ignore. It does no IO.
//
//	repo := ignore.ReadRepository(read, env)
//	top := (*ignore.Rules)(nil).Enter("", repo).AddGit("", gitignore)
//	sub := top.AddGit("sub/", subGitignore)
//	skip := sub.Ignores("sub/", "x.o", false)
//
// The last rule that matches wins: first of the innermost .gitignore with a matching rule, then of info/exclude, then
// of core.excludesFile. .ignore files take precedence over all of these. A rule with ! includes a name again that an
// earlier one excludes, but nothing below an ignored directory, because that is never entered.
//
// Where versions of git differ, the newest counts. Three things differ from git. In one file, patterns that are
// neither a name, a path nor a "*.ending" are limited to 256 KiB; later ones do not count. The rules for one name
// take at most about a millisecond whatever the files contain; rules that were not tried by then do not match (5,000
// patterns that all have to be tried stay within the limit, see steps.go). Conditionally included configuration is
// not read.
//
// Files that a repository names itself count only where the Reader allows it: the set of omitted names reveals the
// content of the file with the rules.
package ignore
