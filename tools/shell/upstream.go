package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"toolhost/permissions/protect"
)

// isUpstream reports whether a directory is a repository of this user from which the remote of a repository has fetched before: both have a
// branch at the same commit. An address alone, which an attacker may have put into the configuration of a repository, is no proof of that.
func isUpstream(git, remote, dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || strings.ContainsAny(remote, "/\\") || remote == "" || remote == "." || remote == ".." {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return false
	}
	if !protect.IsGitDir(dir) {
		if dir = filepath.Join(dir, ".git"); !protect.IsGitDir(dir) {
			return false
		}
	}
	theirs := commits(dir, "refs/heads/")
	for commit := range commits(git, "refs/remotes/"+remote+"/") {
		if theirs[commit] {
			return true
		}
	}
	return false
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
