package neutral

import (
	"os"
	"path/filepath"
	"strings"
)

// repository is a place where git keeps a repository.
type repository struct {
	gitDir string // its own
	common string // the directory shared with other work trees; usually equal to gitDir
	top    string // where its work tree begins, unless configuration says otherwise; "" for a bare one
	link   string // the file or link .git that led there, if it is one
}

// at returns the repository of gitDir, which need not exist.
func (l *look) at(gitDir, top string) repository {
	r := repository{gitDir: gitDir, common: gitDir, top: top}
	if common := l.pointed(filepath.Join(gitDir, "commondir"), ""); common != "" {
		r.common = common
	}
	return r
}

// discovered returns the repositories that git may find from dir upward, the likeliest first. All but the first count
// only if git rejects the ones before.
func (l *look) discovered(dir string) (found []repository, bare string) {
	for {
		if r, ok := l.dotGit(dir); ok {
			found = append(found, r)
		}
		if len(found) == 0 && bare == "" && shaped(dir) {
			bare = dir
		}
		if dir == "/" {
			return found, bare
		}
		dir = filepath.Dir(dir)
	}
}

// dotGit returns the repository that .git in a directory is, or names.
func (l *look) dotGit(dir string) (repository, bool) {
	name := filepath.Join(dir, ".git")
	info, err := os.Lstat(name)
	if err != nil {
		return repository{}, false
	}
	real, err := l.host.real(name)
	if err != nil {
		return repository{}, false
	}
	if to, err := os.Stat(real); err != nil || !to.IsDir() {
		if real = l.pointed(real, "gitdir: "); real == "" {
			return repository{}, false
		}
		info = nil
	}
	r := l.at(real, dir)
	if info == nil || !info.IsDir() {
		r.link = name
	}
	return r, true
}

// shaped reports whether git may take a directory for a repository.
func shaped(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	return exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs")) || exists(filepath.Join(dir, "commondir"))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// maxPointer bounds the size of a file that names a directory.
const maxPointer = 4 << 10

// pointed returns the directory that a file names after a prefix, relative to the file's directory; "" if it names
// none.
func (l *look) pointed(file, prefix string) string {
	text, err := readRegular(file)
	if err != nil || len(text) > maxPointer {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), prefix)
	if !ok || target == "" {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Dir(file) + "/" + target
	}
	if real, err := l.host.real(target); err == nil {
		return real
	}
	return filepath.Clean(target)
}

// acknowledges reports whether a repository elsewhere that .git names points back to it, as one of its work trees or
// submodules.
func (l *look) acknowledges(r repository) bool {
	if r.link == "" {
		return r.common == r.gitDir
	}
	if back := l.pointed(filepath.Join(r.gitDir, "gitdir"), ""); back != "" {
		return same(filepath.Dir(back), r.top) && filepath.Dir(r.gitDir) == filepath.Join(r.common, "worktrees")
	}
	return l.worktree != "" && r.common == r.gitDir && same(l.worktree, r.top)
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}
