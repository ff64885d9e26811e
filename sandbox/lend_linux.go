package sandbox

import (
	"os"
	"path/filepath"
	"slices"

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

// openPlaces are the places that a profile opens besides the session's.
type openPlaces struct {
	write, read []identity
	loans       []loan
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

// writes reports whether a path lies in a place outside of the roots that is open.
func (o *openPlaces) writes(path string) bool {
	return slices.ContainsFunc(o.write, func(id identity) bool { return agenttool.Within(id.path, path) })
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

func exists(dir *os.File, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != unix.ENOENT
}

// now is the file that the host has under the first name of a loan; the zero fileID: none.
func (l loan) now() fileID {
	var st unix.Stat_t
	if unix.Fstatat(int(l.dir.Fd()), filepath.Base(l.first), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return fileID{}
	}
	return fileID{uint64(st.Dev), st.Ino}
}

// noteMade remembers what the command has made under the first name of a loan.
func (j *judge) noteMade(path string, inode uint64) {
	for _, l := range j.loans {
		if now := l.now(); l.first == path && now.ino == inode {
			j.lentNow.Lock()
			if j.lentFiles == nil {
				j.lentFiles = map[string]fileID{}
			}
			j.lentFiles[path] = now
			j.lentNow.Unlock()
		}
	}
}

// ownLoan is the loan with this first name, if the command has made what it sees there and the host still has it there.
func (j *judge) ownLoan(t notify.Target) (l loan, ok bool) {
	i := slices.IndexFunc(j.loans, func(l loan) bool { return l.first == t.Path })
	dev, ino, err := t.Identity()
	if i < 0 || err != nil {
		return loan{}, false
	}
	j.lentNow.Lock()
	made, known := j.lentFiles[t.Path]
	j.lentNow.Unlock()
	return j.loans[i], known && made == fileID{dev, ino} && made == j.loans[i].now()
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

// lend has the helper show a name that was made on loan (enter.SayLend), or show it no more since it was removed (enter.SayReturn).
func (h *helper) lend(say byte, path string, gone <-chan struct{}) {
	h.lending.Lock()
	defer h.lending.Unlock()
	select {
	case <-h.lent: // the answer to one that timed out
	default:
	}
	h.send(coverPatience, say, path)
	h.await(h.lent, gone)
}
