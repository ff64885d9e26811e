package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolhost/permissions/protect"
)

// usersRepository is the git directory of a repository of this user that an address names: its work tree, or itself.
func usersRepository(dir string) (git string, ok bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return "", false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return "", false
	}
	if protect.IsGitDir(dir) {
		return dir, true
	}
	git = filepath.Join(dir, ".git")
	return git, protect.IsGitDir(git)
}

// fetchedBefore reports whether a directory is a repository of this user, and has a branch at a commit that a remote of another repository has, too.
// Files that an archive brings can say that: it is no proof, and a rule of the user must name the directory besides.
func fetchedBefore(git, remote, dir string) bool {
	if strings.ContainsAny(remote, "/\\") || remote == "" || remote == "." || remote == ".." {
		return false
	}
	other, ok := usersRepository(dir)
	if !ok {
		return false
	}
	theirs := commits(other, "refs/heads/")
	for commit := range commits(git, "refs/remotes/"+remote+"/") {
		if theirs[commit] {
			return true
		}
	}
	return false
}

// isClone reports whether a repository was cloned from another one of this user on the same file system, or the other way round: git links their
// object files then, so that both have the same file under a name each. Neither an archive nor a command of a sandbox can make such a name,
// unless it could read the file anyway.
func isClone(git, dir string) bool {
	other, ok := usersRepository(dir)
	if !ok {
		return false
	}
	theirs := linkedObjects(other)
	for file := range linkedObjects(git) {
		if theirs[file] {
			return true
		}
	}
	return false
}

// fileID says which file it is.
type fileID struct{ dev, ino uint64 }

// maxObjects bounds the object files that are looked at.
const maxObjects = 4000

// linkedObjects are the object files of a repository that have further names, packs first. A link on the way leads to none.
func linkedObjects(git string) map[fileID]bool {
	found, seen := map[fileID]bool{}, 0
	objects := filepath.Join(git, "objects")
	list := func(dir string) []os.DirEntry {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return nil
		}
		entries, _ := os.ReadDir(dir)
		return entries
	}
	look := func(dir string) {
		for _, e := range list(dir) {
			if seen++; seen > maxObjects {
				return
			}
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
				continue
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
				found[fileID{st.Dev, st.Ino}] = true
			}
		}
	}
	look(filepath.Join(objects, "pack"))
	for _, e := range list(objects) {
		if len(e.Name()) == 2 && seen <= maxObjects {
			look(filepath.Join(objects, e.Name()))
		}
	}
	return found
}

// ownCheckout reports whether a git directory is that of a root of the workspace, or lies in one: a file .git can name any repository of the user.
func (t *tool) ownCheckout(git, home string) bool {
	return t.inRoots(git) || slices.ContainsFunc(t.w.Roots(), func(root string) bool {
		c, ok := protect.CheckoutOf(root, home)
		return ok && c.Common == git
	})
}

// maxRefs bounds the files that are read for the branches of a repository.
const maxRefs = 500

// commits are those to which the references below a prefix point.
func commits(git, prefix string) map[string]bool {
	found, seen := map[string]bool{}, 0
	if packed := filepath.Join(git, "packed-refs"); isPlainFile(packed) {
		text, _ := os.ReadFile(packed)
		for line := range strings.Lines(string(text)) {
			if commit, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, prefix) && isCommit(commit) {
				found[commit] = true
			}
		}
	}
	_ = filepath.WalkDir(filepath.Join(git, prefix), func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxRefs {
			return fs.SkipAll
		}
		if d.Type().IsRegular() {
			if commit := strings.TrimSpace(pointedText(path)); isCommit(commit) {
				found[commit] = true
			}
		}
		return nil
	})
	return found
}

// isPlainFile reports whether a path is a regular file of a size that is read at once.
func isPlainFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= 4<<20
}

// isCommit reports whether a text is the name of an object.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
