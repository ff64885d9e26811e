package shell

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify"
)

// refineGit replaces the git configuration path that was inferred from the command's text by the real one. The text
// suggests .git/config where git runs. But git searches the parent directories too, and a linked work tree or a
// submodule keeps it in yet another place. The decision needs the file that is really written.
func refineGit(f *agenttool.Facts) []*agenttool.Path {
	if !slices.Contains(f.Inferred, classify.WritesGitConfig) {
		return nil
	}
	var refined []*agenttool.Path
	for i := range f.Writes {
		p := &f.Writes[i]
		dir, rest, ok := cutGit(filepath.Clean(p.Absolute))
		if !ok {
			continue
		}
		git, found := findGit(dir)
		if !ownOfWorkTree(rest) {
			git, found = shared(git)
		}
		if real := filepath.Join(git, rest); found && real != p.Absolute {
			*p = agenttool.Path{Spelling: real, Absolute: real, Follows: p.Follows, By: p.By}
			refined = append(refined, p)
		}
	}
	return refined
}

// refineLocks does the same for the files that git locks.
func refineLocks(f *agenttool.Facts) {
	locks := slices.Clone(f.Locks)
	for i, lock := range locks {
		dir, rest, ok := cutGit(filepath.Clean(lock.Path))
		if !ok {
			continue
		}
		if git, found := findGit(dir); found {
			if rest != "index.lock" {
				git, found = shared(git)
			}
			if found {
				locks[i].Path = filepath.Join(git, rest)
			}
		}
	}
	f.Locks = locks
}

// cutGit cuts a path at its last ".git".
func cutGit(path string) (dir, rest string, ok bool) {
	const git = "/.git/"
	i := strings.LastIndex(path, git)
	if i < 0 {
		return "", "", false
	}
	return path[:i], path[i+len(git):], true
}

// ownOfWorkTree reports whether each linked work tree has its own copy of such a file.
func ownOfWorkTree(rest string) bool {
	return rest == "config.worktree" || rest == "info/sparse-checkout"
}

// findGit returns the git directory of dir, found as git finds it.
func findGit(dir string) (string, bool) {
	for {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		if err == nil && info.Mode().Type() == os.ModeSymlink {
			if git, err = filepath.EvalSymlinks(git); err == nil {
				info, err = os.Lstat(git)
			}
		}
		switch {
		case err == nil && info.IsDir():
			return git, true
		case err == nil && info.Mode().IsRegular():
			git = pointed(git, "gitdir: ")
			return git, git != ""
		case dir == "/":
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

// shared returns the common directory of a git directory: another one, or itself.
func shared(git string) (string, bool) {
	if git == "" {
		return "", false
	}
	if common := pointed(filepath.Join(git, "commondir"), ""); common != "" {
		return common, true
	}
	return git, true
}

// maxPointer bounds the size of a file that names a directory.
const maxPointer = 4 << 10

// pointed returns the directory that a file names after a prefix, relative to the file's directory; "" if it names
// none.
func pointed(file, prefix string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimRight(pointedText(file), "\r\n"), prefix)
	if !ok || target == "" {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	return filepath.Clean(target)
}

func pointedText(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxPointer)) // an unreadable file names nothing
	return string(b)
}
