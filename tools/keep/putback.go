package keep

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"

	"toolhost/agenttool/count"
	"toolhost/agenttool/json"
	"toolhost/permissions/protect"
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
		entries, lost, _, err := readJournal(filepath.Join(call.dir, journalName))
		entries = append(entries, lost...)
		if err != nil || len(entries) == 0 {
			continue
		}
		first := max(0, slices.IndexFunc(entries, func(e entry) bool { return e.Was != nil && !e.Was.Own }))
		kept = append(kept, Kept{filepath.Base(call.dir), call.ended, len(entries), string(entries[first].Path)})
	}
	return kept
}

// Errors of [Store.PutBack].
var (
	ErrUnknown = errors.New("nothing is kept of the call")
	ErrBusy    = errors.New("the call, or an undo of it, is still under way: end it or wait for it, then undo it")
)

// PutBack undoes what a call has changed, from its last change to its first. What others have put under a name since is kept as the loss of
// a call of its own. Names on the way to a file are not followed through links.
//
// It fails with [ErrUnknown] without a record of the call, and with [ErrBusy] as long as the call or another PutBack of it is under way. What
// cannot be undone is a problem of the report, and the rest is undone; the record of the call stays then, and is gone otherwise. PutBack of a
// call whose undoing was killed, or had problems, does what is left.
func (s *Store) PutBack(ctx context.Context, id string) (Report, error) {
	if id != filepath.Base(id) || id == "." || id == ".." || id == "" {
		return Report{}, ErrUnknown
	}
	dir := filepath.Join(s.Dir, id)
	lock, err := lockCall(dir, lockPatience)
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, ErrUnknown
	}
	if err != nil {
		return Report{}, fmt.Errorf("put back %s: %w", id, err)
	}
	defer lock.Close()
	entries, err := wholeJournal(filepath.Join(dir, journalName))
	if err != nil {
		return Report{}, fmt.Errorf("put back %s: %w", id, err)
	}
	p, err := s.openProgress(dir, id)
	if err != nil {
		return Report{}, fmt.Errorf("put back %s: %w", id, err)
	}
	defer p.Close()
	record, err := s.reopen(p.as)
	if err != nil {
		return Report{}, fmt.Errorf("put back %s: %w", id, err)
	}
	u := &undo{ctx: ctx, dir: dir, record: record, named: map[inode]string{}, disks: map[uint64]*os.File{}}
	defer func() {
		for _, f := range u.disks {
			f.Close()
		}
	}()
	for n, e := range entries {
		if p.done[n] {
			u.restored(e)
		}
	}
	report := Report{As: p.as}
	for progress := true; progress; { // what git has may be back only when an earlier change is undone
		progress, report.Problems = false, nil
		for n, e := range slices.Backward(entries) {
			if p.done[n] {
				continue
			}
			if ctx.Err() != nil {
				return report, errors.Join(context.Cause(ctx), u.record.Close())
			}
			already, err := p.begin(n, e)
			if err == nil && !already {
				err = u.put(e)
			}
			if err != nil {
				report.Problems = append(report.Problems, fmt.Sprintf("%s: %v", e.Path, err))
				p.failed(n)
				continue
			}
			u.restored(e)
			p.done[n] = true
			progress = true
			report.Changes++
		}
	}
	for _, e := range slices.Backward(entries) { // what was put into a directory has changed its times
		if e.Was != nil && !e.Was.Own && e.Was.Mode&unix.S_IFMT == unix.S_IFDIR && e.Did != altered {
			u.times(e)
		}
	}
	report.Problems = append(report.Problems, u.lacks...)
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

// readJournal returns the changes that were made. whole is false if the call did not end its journal; lost are the changes then that come
// last, of which the store has the names alone.
func readJournal(file string) (entries, lost []entry, whole bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, false, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	var homes []entry
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && !whole {
			lost = lostLines(filepath.Dir(file), homes, entries)
		}
		if err == io.EOF {
			return entries, lost, whole, nil
		}
		if err != nil {
			return nil, nil, false, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, nil, false, err
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

// lastOf is the index of the last loss or move of a path, -1 without one.
func lastOf(entries []entry, path name) int {
	for i, e := range slices.Backward(entries) {
		if e.Path == path && (e.Was != nil || e.To != "") {
			return i
		}
	}
	return -1
}

// undo puts one call back.
type undo struct {
	ctx    context.Context
	dir    string              // of the call
	record *Call               // of what is there now
	named  map[inode]string    // files that were made again and have further names, by what they were
	lacks  []string            // what files do not have that are back
	disks  map[uint64]*os.File // a directory of each file system that is to be synced, by device
}

// restored takes notice of a change that is undone.
func (u *undo) restored(e entry) {
	if e.Did == removed && !e.Was.Own && !e.Was.Same && e.Was.Ino != 0 && e.Was.Mode&unix.S_IFMT == unix.S_IFREG {
		u.named[inode{e.Was.Dev, e.Was.Ino}] = string(e.Path)
	}
}

// touches takes notice of a directory in which something changes. Where the disk gets all changes in their order, the copies are there until
// what was put back is.
func (u *undo) touches(dir int) {
	var st, own unix.Stat_t
	if unix.Fstat(dir, &st) != nil || unix.Stat(u.dir, &own) != nil || u.disks[uint64(st.Dev)] != nil {
		return
	}
	switch order := u.record.store.orderOf(dir, uint64(st.Dev)); {
	case order == filesystem.NeverKept, order == filesystem.InOrder && st.Dev == own.Dev:
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
	if err == unix.ENOENT && (e.Did == made || e.Did == altered || e.Did == touched) {
		return nil // the file has gone with its directory
	}
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
	case altered, touched:
		return u.alter(dir, base, e)
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

// placeOf opens what has a name, a link itself if it is one.
func placeOf(dir int, base string) (place int, st unix.Stat_t, err error) {
	place, err = unix.Openat(dir, base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, st, err
	}
	if err = unix.Fstat(place, &st); err != nil {
		unix.Close(place)
		return -1, st, err
	}
	return place, st, nil
}

// errTaken means that a process changes names under our hands.
var errTaken = errors.New("another file took its place meanwhile")

// clear removes the file that has a name now, once the record has it. A directory stays where was is one, too.
func (u *undo) clear(dir int, base, path string, was *state) error {
	place, st, err := placeOf(dir, base)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(place)
	isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if isDir && was != nil && was.Mode&unix.S_IFMT == unix.S_IFDIR {
		return nil
	}
	step := u.record.Begin()
	err = step.Unlinking(path, place)
	switch {
	case err != nil:
	case isDir:
		err = unix.Unlinkat(dir, base, unix.AT_REMOVEDIR)
	default:
		err = u.unlink(dir, base, &st)
	}
	step.End(err == nil)
	if err == unix.ENOTEMPTY {
		return errors.New("the directory holds files that came since")
	}
	return err
}

// unlink removes the name of a file and of no other one: a process may give the name to a file that is not kept. The file goes to a name that
// no command reaches first, where there is one.
func (u *undo) unlink(dir int, base string, st *unix.Stat_t) error {
	aside, err := unix.Open(u.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(aside)
	name := "cleared"
	_ = unix.Unlinkat(aside, name, 0) // of an undoing that was killed: it was kept before
	err = unix.Renameat2(dir, base, aside, name, unix.RENAME_NOREPLACE)
	if err == unix.EXDEV {
		aside, name = dir, ".toolhost-"+rand.Text()+".tmp"
		err = unix.Renameat2(dir, base, aside, name, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		return err
	}
	var now unix.Stat_t
	err = unix.Fstatat(aside, name, &now, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && now.Dev == st.Dev && now.Ino == st.Ino {
		return unix.Unlinkat(aside, name, 0)
	}
	return errors.Join(errTaken, unix.Renameat2(aside, name, dir, base, unix.RENAME_NOREPLACE))
}

// restore makes the file again that had a name.
func (u *undo) restore(dir int, base string, e entry) error {
	if err := u.clear(dir, base, string(e.Path), e.Was); err != nil {
		return err
	}
	was, path := e.Was, string(e.Path)
	kind := was.Mode & unix.S_IFMT
	var err error
	switch {
	case was.Own && kind == unix.S_IFDIR: // an earlier entry removes or moves this file: a stand-in does
		err = unix.Mkdirat(dir, base, 0o700)
	case was.Own:
		err = unix.Mknodat(dir, base, unix.S_IFREG|0o600, 0)
	case kind == unix.S_IFDIR:
		err = unix.Mkdirat(dir, base, 0o700)
	case kind == unix.S_IFLNK:
		err = unix.Symlinkat(string(was.Target), dir, base)
	case kind == unix.S_IFIFO:
		err = unix.Mknodat(dir, base, unix.S_IFIFO|0o600, 0)
	case kind == unix.S_IFREG:
		return u.file(dir, base, path, was)
	default:
		return nil // a socket ends with its server
	}
	exists := err == unix.EEXIST && kind == unix.S_IFDIR
	if err != nil && !exists {
		return err
	}
	place, st, err := placeOf(dir, base)
	if err != nil {
		return err
	}
	defer unix.Close(place)
	if !exists {
		u.record.Made(path, place)
	}
	if was.Own {
		return nil
	}
	if st.Mode&unix.S_IFMT != kind || kind != unix.S_IFDIR && st.Nlink > 1 {
		return errTaken
	}
	if err := u.attributes(place, &st, was, path, true); err != nil {
		return err
	}
	return setTimes(place, was)
}

// file makes a regular file as it was, or a further name of it.
func (u *undo) file(dir int, base, path string, was *state) error {
	of := inode{was.Dev, was.Ino}
	if was.Same && unix.Linkat(unix.AT_FDCWD, filepath.Join(u.dir, string(was.Content)), dir, base, 0) == nil {
		u.record.Made(path, -1)
		return nil
	}
	if other := u.named[of]; other != "" && was.Ino != 0 && linkTo(other, dir, base) {
		u.record.Made(path, -1)
		return nil
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
	to := os.NewFile(uintptr(fd), path)
	defer to.Close()
	u.record.Made(path, fd)
	return u.fill(to, content, was, true)
}

// linkTo gives a regular file a further name.
func linkTo(path string, dir int, base string) bool {
	from, name, err := parentOf(path)
	if err != nil {
		return false
	}
	defer unix.Close(from)
	var st unix.Stat_t
	return unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG &&
		unix.Linkat(from, name, dir, base, 0) == nil
}

// rewrite gives a file its content back, under all names that it has.
func (u *undo) rewrite(dir int, base string, e entry) error {
	place, st, err := placeOf(dir, base)
	if err == unix.ENOENT {
		return u.restore(dir, base, e)
	}
	if err != nil {
		return err
	}
	defer unix.Close(place)
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return u.restore(dir, base, e)
	}
	content, err := u.content(e.Was)
	if err != nil {
		return err
	}
	defer content.Close()
	step := u.record.Begin()
	if err := step.Emptying(string(e.Path), place); err != nil {
		step.End(false)
		return err
	}
	to, err := os.OpenFile(atProc(place), os.O_WRONLY|os.O_TRUNC|unix.O_NONBLOCK, 0)
	if err != nil {
		step.End(false)
		return unwrapped(err)
	}
	defer to.Close()
	err = u.fill(to, content, e.Was, false)
	step.End(true)
	return err
}

// fill writes a content into an empty file, and gives it the attributes and times that it had.
func (u *undo) fill(to, content *os.File, was *state, isNew bool) error {
	if unix.IoctlFileClone(int(to.Fd()), int(content.Fd())) != nil {
		info, err := content.Stat()
		if err == nil {
			err = copyData(to, content, info.Size())
		}
		if err != nil {
			return err
		}
	}
	if err := writeOut(to); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(to.Fd()), &st); err != nil {
		return err
	}
	if err := u.attributes(int(to.Fd()), &st, was, to.Name(), isNew); err != nil {
		return err
	}
	return setTimes(int(to.Fd()), was)
}

// alter gives a file back the attributes or the times that it had. Where there is no file any more nothing is to be done.
func (u *undo) alter(dir int, base string, e entry) error {
	place, st, err := placeOf(dir, base)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(place)
	if st.Mode&unix.S_IFMT != e.Was.Mode&unix.S_IFMT {
		return nil
	}
	step := u.record.Begin()
	if e.Did == touched {
		if err = step.Touching(string(e.Path), place); err == nil {
			err = setTimes(place, e.Was)
		}
	} else if err = step.Altering(string(e.Path), place); err == nil {
		err = u.attributes(place, &st, e.Was, string(e.Path), true)
	}
	step.End(err == nil)
	return err
}

// content opens what a file held.
func (u *undo) content(was *state) (*os.File, error) {
	if was.Object == "" {
		return os.Open(filepath.Join(u.dir, string(was.Content)))
	}
	plain := showObject(u.ctx, string(was.Top), was.Object)
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

// attributes gives an open file or place the owner, mode and attributes that it had. all says that the record has each attribute, so that the
// file is to have no other ones.
func (u *undo) attributes(file int, st *unix.Stat_t, was *state, path string, all bool) error {
	mode := was.Mode & 0o7777
	if st.Uid != was.UID || st.Gid != was.GID {
		err := unix.Fchownat(file, "", int(was.UID), int(was.GID), unix.AT_EMPTY_PATH)
		switch {
		case err == unix.EPERM:
			u.lacks = append(u.lacks, fmt.Sprintf("%s: it is back, and its owner, %d:%d, is not: only root gives files away", path, was.UID, was.GID))
			mode &^= unix.S_ISUID | unix.S_ISGID
		case err != nil:
			return fmt.Errorf("its owner: %w", err)
		}
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	if err := unix.Chmod(atProc(file), mode); err != nil {
		return fmt.Errorf("its mode: %w", err)
	}
	if all {
		now, err := attributes(file)
		if err != nil {
			return fmt.Errorf("its attributes: %w", err)
		}
		for attr := range now {
			if _, had := was.Attrs[attr]; !had {
				if err := unix.Removexattr(atProc(file), attr); err != nil {
					return fmt.Errorf("its attribute %s: %w", attr, err)
				}
			}
		}
	}
	for attr, value := range was.Attrs {
		err := unix.Setxattr(atProc(file), attr, value, 0)
		if err == unix.EPERM && attr == "security.capability" {
			u.lacks = append(u.lacks, path+": it is back, and its capabilities are not: only root gives them")
			continue
		}
		if err != nil {
			return fmt.Errorf("its attribute %s: %w", attr, err)
		}
	}
	return nil
}

// times gives a directory its times back, if it is there.
func (u *undo) times(e entry) {
	dir, base, err := parentOf(string(e.Path))
	if err != nil {
		return
	}
	defer unix.Close(dir)
	place, st, err := placeOf(dir, base)
	if err != nil {
		return
	}
	defer unix.Close(place)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		_ = setTimes(place, e.Was)
	}
}

// setTimes sets the times of an open file or place.
func setTimes(file int, was *state) error {
	times := []unix.Timespec{timespec(was.Access), timespec(was.Change)}
	return unix.UtimesNanoAt(file, "", times, unix.AT_EMPTY_PATH)
}

func timespec(t time.Time) unix.Timespec { return unix.NsecToTimespec(t.UnixNano()) }
