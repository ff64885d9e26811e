package protect

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// Checkout is a directory in a work tree, with the places of its repository.
type Checkout struct {
	Top    string // of the work tree
	GitDir string // of this work tree
	Common string // the directory that all work trees of the repository share; GitDir if there is only one
}

// CheckoutOf finds the repository of a directory as git does, from there upward. It finds none that contains the user's home, none of
// another user, and none that does not know this work tree: a file or link .git can name any directory, and its repository must
// name the work tree in return. Only one that git made with --separate-git-dir names none; it is found if it is in no other work tree.
func CheckoutOf(dir, home string) (Checkout, bool) {
	for top := dir; ; top = filepath.Dir(top) {
		if home != "" && agenttool.Within(top, home) || top == "/" {
			return Checkout{}, false
		}
		git := filepath.Join(top, ".git")
		info, err := os.Lstat(git)
		switch {
		case err != nil:
		case info.IsDir():
			return Checkout{top, git, git}, isGitDir(git)
		case info.Mode().IsRegular() && isOwned(info):
			return linked(top, git)
		case info.Mode().Type() == os.ModeSymlink && isOwned(info):
			return separate(top, real(git))
		default:
			return Checkout{}, false
		}
	}
}

// maxLinked bounds the work trees of a repository that are looked at.
const maxLinked = 200

// Linked are the .git files of the repository's linked work trees, those that name the repository in return.
func (c Checkout) Linked() (files []string) {
	dir := filepath.Join(c.Common, "worktrees")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries[:min(len(entries), maxLinked)] {
		file, ok := named(filepath.Join(dir, e.Name(), "gitdir"), "")
		if !ok || filepath.Base(file) != ".git" {
			continue
		}
		if other, ok := linked(filepath.Dir(file), file); ok && other.Common == c.Common {
			files = append(files, file)
		}
	}
	return files
}

// linked is the checkout whose .git is a file.
func linked(top, file string) (Checkout, bool) {
	dir, ok := named(file, "gitdir:")
	if !ok || !isOwn(dir) {
		return Checkout{}, false
	}
	if back, ok := named(filepath.Join(dir, "gitdir"), ""); ok { // git worktree
		common, ok := named(filepath.Join(dir, "commondir"), "")
		return Checkout{top, dir, common}, ok && back == file && filepath.Dir(dir) == filepath.Join(common, "worktrees") && isGitDir(common)
	}
	return separate(top, dir)
}

// separate is the checkout whose .git is a link to a directory, or a file that names one which is no linked work tree.
func separate(top, dir string) (Checkout, bool) {
	if dir == "" || !isOwn(dir) || !isGitDir(dir) {
		return Checkout{}, false
	}
	text, err := readSome(filepath.Join(dir, "config"), maxConfig)
	if err != nil {
		return Checkout{}, false
	}
	tree, bare := gitSetting(text, "core", "worktree"), gitSetting(text, "core", "bare")
	if tree != "" { // a submodule, or core.worktree names it
		return Checkout{top, dir, dir}, real(absolute(tree, dir)) == top
	}
	alone := filepath.Base(dir) != ".git" && !strings.Contains(dir, "/.git/")
	return Checkout{top, dir, dir}, alone && strings.EqualFold(bare, "false")
}

// named is namedIn where it does not matter why there is no path.
func named(file, prefix string) (string, bool) {
	place, err := namedIn(file, prefix)
	return place, err == nil
}

// namedIn returns the path in a file of git, behind a prefix and without links. It must be there.
func namedIn(file, prefix string) (string, error) {
	text, err := readSome(file, maxPointer)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(text, prefix)
	target = strings.TrimRight(strings.TrimLeft(target, " "), "\r\n")
	if !ok || target == "" || strings.ContainsRune(target, 0) { // a newline inside is part of the name, as for git
		return "", os.ErrInvalid
	}
	return filepath.EvalSymlinks(absolute(target, filepath.Dir(file)))
}

func absolute(name, dir string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// real is a path without links, "" if it leads nowhere.
func real(path string) string {
	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return place
}

// readSome reads a regular file of at most limit bytes.
func readSome(file string, limit int64) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return "", os.ErrInvalid
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// isGitDir reports whether a directory of this user looks like a repository.
func isGitDir(dir string) bool { return isOwn(dir) && IsGitDir(dir) }

// IsGitDir reports whether a directory looks like a repository, as git sees it.
func IsGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// isOwn reports whether a directory belongs to this user, as git asks for.
func isOwn(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && isOwned(info)
}

// isOwned reports whether a file belongs to this user.
func isOwned(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// gitSetting is the last value of a key in a section of a git configuration file, "" if there is none. Includes are not followed.
func gitSetting(text, section, key string) (value string) {
	eachGitVariable(text, func(in, name, v string) {
		if in == section && name == key {
			value = v
		}
	})
	return value
}
