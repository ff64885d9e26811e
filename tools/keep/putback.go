package keep

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/count"
	"toolhost/agenttool/json"
	"toolhost/permissions/protect"
	"toolhost/tools/neutral"
)

// Report says what putting back a call has done.
type Report struct {
	Changes  int      `json:"changes"`            // that were undone
	Problems []string `json:"problems,omitempty"` // names that are not as they were, and why
	As       string   `json:"as,omitempty"`       // the call under which the store has what was there before: putting that back does the changes again
}

// String says how much was undone.
func (r Report) String() string { return count.Grouped(r.Changes, "change", "changes") }

// Kept is a call in the store.
type Kept struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`      // of its last change
	Changes int       `json:"changes"` // that would be undone
	First   string    `json:"first"`   // a name that it changed or removed, or made if it did no more
}

// String says what putting the call back would undo.
func (k Kept) String() string {
	return fmt.Sprintf("%s, such as of %s", count.Grouped(k.Changes, "change", "changes"), k.First)
}

// Calls are those in the store, the oldest first. One whose journal cannot be read is left out.
func (s *Store) Calls() (kept []Kept) {
	calls := s.calls()
	slices.SortFunc(calls, func(a, b stored) int { return a.ended.Compare(b.ended) })
	for _, call := range calls {
		entries, err := readJournal(filepath.Join(call.dir, journalName))
		if err != nil || len(entries) == 0 {
			continue
		}
		first := max(0, slices.IndexFunc(entries, func(e entry) bool { return e.Was != nil && !e.Was.Own }))
		kept = append(kept, Kept{filepath.Base(call.dir), call.ended, len(entries), string(entries[first].Path)})
	}
	return kept
}

// ErrUnknown means that the store has nothing of a call.
var ErrUnknown = errors.New("nothing is kept of the call")

// PutBack undoes what a call has changed, from its last change to its first. What others have put under a name since is kept as the loss of
// a call of its own. Names on the way to a file are not followed through links.
//
// It fails with [ErrUnknown] without a record of the call. What cannot be undone is a problem of the report, and the rest is undone; the record
// of the call stays then, and is gone otherwise.
func (s *Store) PutBack(ctx context.Context, id string) (Report, error) {
	if id != filepath.Base(id) || id == "." || id == ".." || id == "" {
		return Report{}, ErrUnknown
	}
	dir := filepath.Join(s.Dir, id)
	entries, err := readJournal(filepath.Join(dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, ErrUnknown
	}
	if err != nil {
		return Report{}, fmt.Errorf("put back %s: %w", id, err)
	}
	as := "undo-" + id
	for n := 2; fileExists(filepath.Join(s.Dir, as)); n++ {
		as = fmt.Sprintf("undo%d-%s", n, id)
	}
	u := &undo{ctx: ctx, dir: dir, record: s.Call(as), named: map[inode]string{}, disks: map[uint64]*os.File{}}
	defer func() {
		for _, f := range u.disks {
			f.Close()
		}
	}()
	report := Report{As: as}
	slices.Reverse(entries)
	for progress := true; progress && len(entries) > 0; { // what git has may be back only when an earlier change is undone
		var failed []entry
		report.Problems = nil
		for _, e := range entries {
			if ctx.Err() != nil {
				return report, context.Cause(ctx)
			}
			if err := u.put(e); err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("%s: %v", e.Path, err))
				failed = append(failed, e)
				continue
			}
			report.Changes++
		}
		progress = len(failed) < len(entries)
		entries = failed
	}
	for _, e := range u.dirs {
		if dir, base, err := parentOf(string(e.Path)); err == nil {
			_ = setTimes(dir, base, e.Was)
			unix.Close(dir)
		}
	}
	if len(report.Problems) == 0 {
		err = u.onDisk()
	}
	if len(report.Problems) == 0 && err == nil {
		err = os.RemoveAll(dir) // else each file would have a second name there, and some programs leave such files alone
	}
	return report, errors.Join(err, u.record.Close())
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readJournal returns the changes that were made. After a last line that is cut come those of which the store has the names alone.
func readJournal(file string) (entries []entry, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	var homes []entry
	for whole := false; ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && !whole {
			entries = append(entries, lostLines(filepath.Dir(file), homes, entries)...)
		}
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		switch e.Did {
		case ended:
			whole = true
		case stood:
			homes = append(homes, e)
		case undone:
			i := lastOf(entries, e.Path)
			if i >= 0 {
				entries = slices.Delete(entries, i, i+1)
			}
		default:
			entries = append(entries, e)
		}
	}
}

// lastOf is the index of the last loss of a path, -1 without one.
func lastOf(entries []entry, path name) int {
	for i, e := range slices.Backward(entries) {
		if e.Path == path && e.Was != nil {
			return i
		}
	}
	return -1
}

// undo puts one call back.
type undo struct {
	ctx    context.Context
	dir    string // of the call
	record *Call  // of what is there now
	named  map[inode]string
	dirs   []entry             // directories that were made again
	disks  map[uint64]*os.File // a directory of each file system that is to be synced, by device
}

// touches takes notice of a directory in which something changes. Where the disk gets all changes in their order, the copies are there until
// what was put back is.
func (u *undo) touches(dir int) {
	var st, own unix.Stat_t
	if unix.Fstat(dir, &st) != nil || unix.Stat(u.dir, &own) != nil || u.disks[uint64(st.Dev)] != nil {
		return
	}
	switch order := u.record.store.orderOf(dir, uint64(st.Dev)); {
	case order == neverKept, order == inOrder && st.Dev == own.Dev:
		return
	}
	f, err := os.Open(atProc(dir))
	if err == nil {
		u.disks[uint64(st.Dev)] = f
	}
}

// onDisk waits until all that was put back is on the disk, or sure to come there before the copies go.
func (u *undo) onDisk() error {
	var errs []error
	for _, f := range u.disks {
		if err := unix.Syncfs(int(f.Fd())); err != nil {
			errs = append(errs, fmt.Errorf("what was put back may not be on the disk: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (u *undo) put(e entry) error {
	dir, base, err := parentOf(string(e.Path))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if e.Did != made && e.Did != stood {
		if err := u.judge(dir, e); err != nil {
			return err
		}
	}
	u.touches(dir)
	switch e.Did {
	case made:
		return u.clear(dir, base, string(e.Path), nil)
	case removed:
		return u.restore(dir, base, e)
	case wrote:
		return u.rewrite(dir, base, e)
	case moved, exchanged:
		to, name, err := parentOf(string(e.To))
		if err != nil {
			return err
		}
		defer unix.Close(to)
		step := u.record.Begin()
		if e.Did == exchanged {
			step.Exchanging(string(e.To), string(e.Path))
			err = unix.Renameat2(to, name, dir, base, unix.RENAME_EXCHANGE)
		} else {
			step.Moving(string(e.To), string(e.Path))
			err = unix.Renameat2(to, name, dir, base, unix.RENAME_NOREPLACE)
		}
		step.End(err == nil)
		return err
	}
	return fmt.Errorf("the record has an unknown change, %q", e.Did)
}

// judge refuses what git would come to run or obey without that anybody has judged it: commands may write such names where there is no repository, and make
// one there later. A directory that becomes a git directory by this is made harmless first, as in the call of a command. dir is that of the path.
func (u *undo) judge(dir int, e entry) error {
	path := string(e.Path)
	if protect.PartOf(path) == protect.NoPart && (e.Did != exchanged || protect.PartOf(string(e.To)) == protect.NoPart) {
		return nil
	}
	moves := e.Did == moved
	kept := e.Was != nil && (e.Part || e.Was.Own) // a stand-in is empty
	repository := moves && filepath.Base(path) == ".git"
	if e.Did == exchanged || protect.IsPart(dir, path) && !kept && !repository && !(moves && isPart(string(e.To))) {
		return errArms
	}
	var judged protect.Judged
	at := filepath.Dir(path)
	switch kind := protect.PartOf(path); {
	case repository || moves && kind == protect.HooksPart && protect.IsGitShape(dir, at, ""):
		to, name, err := parentOf(string(e.To))
		if err != nil {
			return err
		}
		defer unix.Close(to)
		within, err := unix.Openat(to, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return errArms
		}
		defer unix.Close(within)
		if kind == protect.HooksPart {
			return judged.DisarmHooks(within, path, new(protect.Aside))
		}
		if !protect.IsGitShape(within, string(e.To), "") {
			_, err = judged.Disarm(within, path)
		}
		return err
	case (kind == protect.ShapePart || kind == protect.PointerPart) && !protect.IsGitShape(dir, at, "") && protect.IsGitShape(dir, at, filepath.Base(path)):
		opened, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(opened)
		_, err = judged.Disarm(opened, at)
		return err
	}
	return nil
}

// errArms means that a name is not put back.
var errArms = errors.New("it is part of a repository by now, and git would run or obey it: nobody has looked at that")

// parentOf opens the directory of a path as a place. No link is followed.
func parentOf(path string) (dir int, base string, err error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" {
		return -1, "", fmt.Errorf("%q is no path of a file", path)
	}
	dir, err = unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	return dir, filepath.Base(path), err
}

// clear removes the file that has a name now, once the record has it. A directory stays where was is one, too.
func (u *undo) clear(dir int, base, path string, was *state) error {
	place, err := unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(place)
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return err
	}
	how := 0
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if how = unix.AT_REMOVEDIR; was != nil && was.Mode&unix.S_IFMT == unix.S_IFDIR {
			return nil
		}
	}
	step := u.record.Begin()
	if err = step.Unlinking(path, place); err == nil {
		err = unix.Unlinkat(dir, base, how)
	}
	step.End(err == nil)
	if err == unix.ENOTEMPTY {
		return errors.New("the directory holds files that came since")
	}
	return err
}

// restore makes the file again that had a name.
func (u *undo) restore(dir int, base string, e entry) error {
	if err := u.clear(dir, base, string(e.Path), e.Was); err != nil {
		return err
	}
	was, path := e.Was, string(e.Path)
	var err error
	if was.Own { // an earlier entry removes or moves this file: a stand-in does
		if was.Mode&unix.S_IFMT == unix.S_IFDIR {
			err = unix.Mkdirat(dir, base, 0o700)
		} else {
			err = unix.Mknodat(dir, base, unix.S_IFREG|0o600, 0)
		}
		if err == nil {
			u.note(dir, base, path)
		}
		return err
	}
	switch was.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if err = unix.Mkdirat(dir, base, was.Mode&0o7777); err == unix.EEXIST {
			err = nil
		}
		u.dirs = append(u.dirs, e)
	case unix.S_IFLNK:
		err = unix.Symlinkat(string(was.Target), dir, base)
	case unix.S_IFIFO:
		err = unix.Mknodat(dir, base, unix.S_IFIFO|was.Mode&0o7777, 0)
	case unix.S_IFREG:
		return u.file(dir, base, path, was)
	default:
		return nil // a socket ends with its server
	}
	if err != nil {
		return err
	}
	u.note(dir, base, path)
	return u.give(dir, base, was)
}

// note tells the record that a file was made.
func (u *undo) note(dir int, base, path string) {
	var st unix.Stat_t
	if unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		u.record.Made(path, uint64(st.Dev), st.Ino)
	}
}

// file makes a regular file as it was, or a further name of it.
func (u *undo) file(dir int, base, path string, was *state) error {
	of := inode{was.Dev, was.Ino}
	var same []string
	if was.Same {
		same = append(same, filepath.Join(u.dir, string(was.Content)))
	}
	if other := u.named[of]; other != "" && was.Ino != 0 {
		same = append(same, other)
	}
	for _, file := range same {
		if unix.Linkat(unix.AT_FDCWD, file, dir, base, 0) == nil {
			u.record.Made(path, 0, 0)
			return nil
		}
	}
	content, err := u.content(was)
	if err != nil {
		return err
	}
	defer content.Close()
	fd, err := unix.Openat(dir, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := fill(fd, content); err != nil {
		return err
	}
	u.note(dir, base, path)
	if was.Ino != 0 {
		u.named[of] = path
	}
	return u.give(dir, base, was)
}

// rewrite gives a file its content back, under all names that it has.
func (u *undo) rewrite(dir int, base string, e entry) error {
	place, err := unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return u.restore(dir, base, e)
	}
	if err != nil {
		return err
	}
	defer unix.Close(place)
	var st unix.Stat_t
	if unix.Fstat(place, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return u.restore(dir, base, e)
	}
	content, err := u.content(e.Was)
	if err != nil {
		return err
	}
	defer content.Close()
	step := u.record.Begin()
	fd := -1
	if err = step.Overwriting(string(e.Path), place); err == nil {
		fd, err = unix.Open(atProc(place), unix.O_WRONLY|unix.O_TRUNC|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		err = fill(fd, content)
	}
	step.End(err == nil)
	if err != nil {
		return err
	}
	return u.give(dir, base, e.Was)
}

// fill writes a content into an open file, and closes it.
func fill(fd int, content *os.File) error {
	to := os.NewFile(uintptr(fd), "file")
	err := error(nil)
	if unix.IoctlFileClone(fd, int(content.Fd())) != nil {
		info, statErr := content.Stat()
		if statErr == nil {
			err = copyData(to, content, info.Size())
		}
		err = errors.Join(err, statErr)
	}
	return errors.Join(err, writeOut(to), to.Close())
}

// content opens what a file held.
func (u *undo) content(was *state) (*os.File, error) {
	if was.Object == "" {
		return os.Open(filepath.Join(u.dir, string(was.Content)))
	}
	plain := exec.CommandContext(u.ctx, "git", "--no-replace-objects", "-C", string(was.Top), "cat-file", "blob", was.Object)
	plain.Env = append(os.Environ(), neutral.Closed()...) // the repository may name a program to fetch with
	f, err := os.CreateTemp(u.dir, "object-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	var says bytes.Buffer
	plain.Stdout, plain.Stderr = f, &says
	if err := plain.Run(); err != nil {
		f.Close()
		return nil, fmt.Errorf("git does not give object %s: %s", was.Object, strings.TrimSpace(says.String()))
	}
	info, err := f.Stat()
	if err == nil && info.Size() != was.Size {
		err = fmt.Errorf("git changes the file when it checks it out: get it back with git -C %s cat-file --filters %s", was.Top, was.Object)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// give gives a file the owner, mode, attributes and times that it had.
func (u *undo) give(dir int, base string, was *state) error {
	place, err := unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(place)
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != was.Mode&unix.S_IFMT {
		return errors.New("another file took its place meanwhile")
	}
	if st.Uid != was.UID || st.Gid != was.GID {
		if err := unix.Fchownat(place, "", int(was.UID), int(was.GID), unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil && err != unix.EPERM {
			return err
		}
	}
	if was.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(atProc(place), was.Mode&0o7777); err != nil {
			return err
		}
		for attr, value := range was.Attrs {
			if err := unix.Setxattr(atProc(place), attr, value, 0); err != nil {
				return fmt.Errorf("its attribute %s: %w", attr, err)
			}
		}
	}
	return setTimes(dir, base, was)
}

func setTimes(dir int, base string, was *state) error {
	times := []unix.Timespec{timespec(was.Access), timespec(was.Change)}
	return unix.UtimesNanoAt(dir, base, times, unix.AT_SYMLINK_NOFOLLOW)
}

func timespec(t time.Time) unix.Timespec { return unix.NsecToTimespec(t.UnixNano()) }
