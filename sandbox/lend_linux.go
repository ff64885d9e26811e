package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// loan is a missing path outside of the roots that the decision named as written. The supervisor makes its first missing name in the
// host's directory, when the command asks for that very name, and the helper shows it to the command.
type loan struct {
	path  string   // what may be written
	first string   // the first missing name on the way to it: path itself, or a directory above
	dir   *os.File // the host's directory that first is in, as a place
}

// maxLoans bounds the loans of one command: each is a mount.
const maxLoans = 16

// loansIn are the missing paths outside of the roots that a profile lets a command write. What the sandbox has of its own, and what is
// toolhost's, is none.
func loansIn(v *view, p Profile) (loans []loan) {
	for _, path := range p.Write {
		path = filepath.Clean(path)
		if _, err := os.Lstat(path); err == nil || !filepath.IsAbs(path) || v.inRoot(path) || v.isHidden(path) || isReplaced(v, path) {
			continue
		}
		dir, first, ok := firstMissing(path)
		if !ok || len(loans) >= maxLoans {
			continue
		}
		fd, err := unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err == nil {
			loans = append(loans, loan{path, first, os.NewFile(uintptr(fd), dir)})
		}
	}
	return loans
}

// isReplaced reports whether a path is in a directory that every sandbox has of its own.
func isReplaced(v *view, path string) bool {
	if slices.Contains(taken, path) {
		return true
	}
	return !v.isClosed(path) && (v.covered(path) || slices.ContainsFunc([]string{"/dev", "/proc", "/sys", "/run"}, func(dir string) bool {
		return agenttool.Within(dir, path)
	}))
}

// firstMissing finds the first missing name on the way to a path, and the directory in which it is made. ok is false where none is lent: in
// directories that every sandbox has of its own, in the root, and behind a link.
func firstMissing(path string) (dir, first string, ok bool) {
	for first = path; ; first = dir {
		dir = filepath.Dir(first)
		if _, err := os.Lstat(dir); err == nil {
			break
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	return dir, first, err == nil && real == dir && !slices.Contains(taken, dir)
}

// gits are the git directories among the places outside of the roots that the command may write, or around them.
func (o *openPlaces) gits() (dirs []string) {
	for _, id := range o.write {
		if protect.IsGitDir(id.path) {
			dirs = append(dirs, id.path)
		}
		if git := filepath.Join(id.path, ".git"); protect.IsGitDir(git) {
			dirs = append(dirs, git)
		}
	}
	return dirs
}

// approvedIn reports whether the decision named a path below a git directory, or one around it there.
func approvedIn(git, path string, approved []string) bool {
	return slices.ContainsFunc(approved, func(named string) bool {
		return named != git && agenttool.Within(git, named) && (agenttool.Within(named, path) || agenttool.Within(path, named))
	})
}

// close gives a loan's directory up.
func (l loan) close() { l.dir.Close() }

// makes are the calls that may make the first name of a loan, removes those that take a name away.
var (
	makes   = []string{"mkdir", "mkdirat", "open", "openat", "creat"}
	removes = []string{"unlink", "unlinkat", "rmdir"}
)

// onLoan judges a call about a missing name on the way to a loan, or about the loan itself: one that makes it is done in the host's
// directory, if the name is missing there as well. ok is false for other calls.
func (j *judge) onLoan(call string, t notify.Target) (verdict notify.Verdict, ok bool) {
	if !j.mounts || len(j.loans) == 0 || t.Mode() != 0 {
		return notify.Allow, false
	}
	directory := strings.HasPrefix(call, "mkdir")
	makesIt := slices.Contains(makes, call)
	for _, l := range j.loans {
		switch {
		case t.Path == l.first && makesIt && (directory || t.Path == l.path):
			if exists(l.dir, filepath.Base(l.first)) || t.Redirect(int(l.dir.Fd())) != nil {
				return notify.Verdict(unix.EACCES), true
			}
			return notify.Allow, true
		case t.Path == l.first && slices.Contains(removes, call): // its directory is read-only, and says so first
			return notify.Verdict(unix.ENOENT), true
		case directory && t.Path != l.first && agenttool.Within(l.first, t.Path) && agenttool.Within(t.Path, l.path):
			return notify.Allow, true // in a directory that was made before
		}
	}
	return notify.Allow, false
}

// onRemoval has a call that removes a named path done in the host's directory. A file that took the name since stays.
func (j *judge) onRemoval(call string, t notify.Target) bool {
	if !j.mounts || !slices.Contains(removes, call) {
		return false
	}
	i := slices.IndexFunc(j.removals, func(r removal) bool { return r.path == t.Path })
	if i < 0 {
		return false
	}
	file, _ := j.removals[i].now()
	return file == j.removals[i].file && t.Redirect(int(j.removals[i].dir.Fd())) == nil
}

// lends reports whether a path is the first name of a loan.
func (j *lending) lends(path string) bool {
	return slices.ContainsFunc(j.loans, func(l loan) bool { return l.first == path })
}

func exists(dir *os.File, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT
}

// holdLoans holds the directories of loans, before everything becomes read-only.
func (o *openPlaces) holdLoans(p *enter.Plan) {
	for _, dir := range o.loanDirs() {
		p.Add(enter.Lend, dir.args()...)
	}
}

// loanDirs are the directories of the loans, each once.
func (o *openPlaces) loanDirs() []identity {
	var dirs []identity
	for _, l := range o.loans {
		var st unix.Stat_t
		if unix.Fstat(int(l.dir.Fd()), &st) != nil {
			continue
		}
		if id := (identity{l.dir.Name(), uint64(st.Dev), st.Ino}); !slices.Contains(dirs, id) {
			dirs = append(dirs, id)
		}
	}
	return dirs
}

// lend has the helper show a name that was made on loan.
func (h *helper) lend(path string, gone <-chan struct{}) {
	h.lending.Lock()
	defer h.lending.Unlock()
	select {
	case <-h.lent: // the answer to one that timed out
	default:
	}
	h.send(coverPatience, enter.SayLend, path)
	h.await(h.lent, gone)
}
