package ignore

import "strings"

// Repository is what ReadRepository finds of one repository. The zero value has no rules.
type Repository struct {
	Fold    bool   // core.ignoreCase: ASCII letters of either case match
	Global  []byte // text of core.excludesFile
	Exclude []byte // text of info/exclude
}

// Reader reads small regular files for one repository. Paths are absolute, or relative to the repository's top, and may
// hold "..". There is nil for what there is not, or what must not be read.
type Reader interface {
	// User reads a file of the user's, or one that such a file names.
	User(path string) []byte
	// Own reads a file of the repository's, or one that such a file names: it counts only in the repository, or in a
	// directory that was admitted.
	Own(path string) []byte
	// Admit reports whether a directory that the repository's files name as git's is one.
	Admit(dir string) bool
}

// Environment says where the user's own configuration is. The zero value says that there is none.
type Environment struct {
	Home       string // for ~ and .gitconfig
	ConfigHome string // holds git/config and git/ignore; "" stands for .config in Home
}

// ReadRepository returns what git's files say of the repository to whose top r is bound: .git is its directory or a
// file that names it (a worktree, a submodule). Configuration is read as by git: /etc/gitconfig, the user's files, the
// repository's own, the worktree's where extensions.worktreeConfig is set; later files win. What [include] names is
// read, what [includeIf] names is not: its conditions ask for more than is known here. ~user is not known either. It
// reads at most 70 files.
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
	s.worktree = false // git asks the repository's own file alone
	s.read = r.Own
	s.file(within(common, "config"), 0)
	if s.worktree {
		s.file(within(dir, "config.worktree"), 0)
	}
	return Repository{Fold: s.fold, Global: s.global(), Exclude: text(r.Own, within(common, "info/exclude"))}
}

// gitDir returns the repository's directory, relative to its top or absolute; "" when the file .git names none.
func gitDir(r Reader) string {
	text := string(r.Own(".git"))
	if text == "" {
		text = "gitdir: .git"
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok || dir == "" || strings.ContainsRune(dir, 0) || !r.Admit(dir) {
		return ""
	}
	return dir
}

// commonDir returns the directory that a worktree shares with its repository: dir itself for most, "" when there is none.
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
