package ignore

import (
	"cmp"
	"strings"
)

// Repository holds the rules of one repository's git configuration. The zero value has no rules.
type Repository struct {
	Fold    bool   // core.ignoreCase: ASCII letters of either case match
	Global  []byte // text of core.excludesFile
	Exclude []byte // text of info/exclude
	Index   string // path of the index, absolute or relative to the repository's top; "": none
	SHA256  bool   // the index has object names of SHA-256, not SHA-1
}

// Reader reads small regular files for one repository. Paths are absolute, or relative to the repository's top, and
// may contain "..". Its methods return nil for files that are missing or must not be read.
type Reader interface {
	// User reads one of the user's files, or a file that one of them names.
	User(path string) []byte
	// Own reads a file of the repository, or a file that one of them names. It reads only within the repository and
	// admitted directories.
	Own(path string) []byte
	// Admit reports whether a directory that the repository's files name is really a git directory.
	Admit(dir string) bool
}

// Environment locates the user's own configuration. The zero value means that there is none.
type Environment struct {
	Home       string // for ~ and .gitconfig
	ConfigHome string // holds git/config and git/ignore; "" means .config in Home
}

// ReadRepository reads git's configuration for the repository whose top r is bound to: .git is its directory or a
// file with its path (a worktree, a submodule). It reads configuration as git does: /etc/gitconfig, the user's files,
// the repository's own, the worktree's if extensions.worktreeConfig is set; later files win. It follows [include] but
// not [includeIf], because the conditions need facts that are unknown here; nor does it resolve ~user. It reads at
// most 70 files.
func ReadRepository(r Reader, env Environment) Repository {
	if env.ConfigHome == "" && env.Home != "" {
		env.ConfigHome = env.Home + "/.config"
	}
	dir := gitDir(r)
	common := commonDir(r, dir)
	s := scan{read: r.User, env: env, left: maxConfigs}
	s.exclude(within(env.ConfigHome, "git/ignore"))
	s.file("/etc/gitconfig", 0)
	s.file(within(env.ConfigHome, "git/config"), 0)
	s.file(within(env.Home, ".gitconfig"), 0)
	s.worktree, s.sha256 = false, false // git reads these variables from the repository's own file only
	s.read = r.Own
	s.file(within(common, "config"), 0)
	if s.worktree {
		s.file(within(dir, "config.worktree"), 0)
	}
	return Repository{
		Fold: s.fold, Global: s.global(), Exclude: text(r.Own, within(common, "info/exclude")),
		Index: within(dir, "index"), SHA256: s.sha256,
	}
}

// gitDir returns the repository's directory, relative to its top or absolute; "" if the file .git does not name one.
func gitDir(r Reader) string {
	text := string(r.Own(".git"))
	text = cmp.Or(text, "gitdir: .git")
	dir, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok || dir == "" || strings.ContainsRune(dir, 0) || !r.Admit(dir) {
		return ""
	}
	return dir
}

// commonDir returns the directory that a worktree shares with its repository: usually dir itself, "" if there is
// none.
func commonDir(r Reader, dir string) string {
	if dir == "" {
		return ""
	}
	common := strings.TrimRight(string(r.Own(within(dir, "commondir"))), "\r\n")
	if common == "" || strings.ContainsRune(common, 0) {
		return dir
	}
	if common = from(dir, common); !r.Admit(common) {
		return ""
	}
	return common
}
