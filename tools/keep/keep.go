// Package keep holds on to what calls replace and remove, so that the user can have it back:
//
//	store := &keep.Store{Dir: dir}
//	call := store.Call("inv-1")
//	step := call.Begin()
//	err := step.Removing("/ws/notes.txt", place) // place is open with O_PATH
//	…                                            // the file is removed
//	step.End(err == nil)
//	call.Close()
//
//	report, err := store.PutBack(ctx, "inv-1")
//
// Who changes files announces each change before it makes it, and says afterwards whether it was made. The first change of a file in a call
// keeps the file as it is: its content, by a second name for it or by a copy that shares its blocks where the file system can, with its
// mode, owner, times, extended attributes and hard links. What the call itself made is not kept, and of a file that is as git's index has
// it only the name of git's object is. The changes of names are kept as well, so that putting back undoes a call step by step, from its last
// change to its first.
//
// Each call that loses something has a directory in the store: a journal of lines in JSON, and the files with the contents. The journal has
// what was lost before it is lost. The store is bounded: old calls make room for new ones, and what finds no room is an error of type
// [*NotKept].
package keep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"

	"toolhost/agenttool/json"
	"toolhost/permissions/protect"
)

// Store is a directory that keeps the files that calls have replaced and removed. Its methods may be called from several goroutines. Dir must be
// set; a nil Store keeps nothing.
type Store struct {
	Dir     string                 // absolute, and of no use to commands
	Refuses func(path string) bool // reports whether a file holds secrets, which are not copied; nil: none does

	changing sync.Mutex // one change at a time between its announcement and its end: what is kept is what is lost
	mu       sync.Mutex
	indexes  map[string]*index           // of repositories, by git directory
	trimmed  time.Time                   // when it was last looked through
	free     int64                       // bytes that fit in before calls have to make room
	orders   map[uint64]filesystem.Order // of file systems, by device
}

// The bounds of a call, and of the store. Contents that share their blocks with nothing count as bytes.
const (
	maxLosses = 100_000   // losses and moves of one call: one more is not kept
	maxMade   = 100_000   // names that undoing takes away again; a call may make any number
	maxOwn    = 1_000_000 // files that are known to be the call's own
	maxAlters = 1_000_000 // files of which the attributes alone change, and of which the times do: one more is not kept
	maxCopied = 256 << 20 // bytes that one call copies
	maxStore  = 2 << 30   // bytes of all calls
)

// NotKept is the error of a change whose loss could not be undone. The change should not be made, or a user be asked.
type NotKept struct {
	Path  string
	Why   string
	Cause error // nil if it is a decision
}

func (e *NotKept) Error() string { return e.Path + " cannot be kept: " + e.Why }

// Unwrap returns the cause: a shortage of the machine may be one.
func (e *NotKept) Unwrap() error { return e.Cause }

// inode tells files apart that exist at the same time.
type inode struct{ dev, ino uint64 }

// identity tells a file apart from every earlier and later one. An inode number alone does not: a new file gets that of a removed one.
type identity struct {
	inode
	born   unix.StatxTimestamp // when the inode was made
	handle string              // of a file system that does not know when: the inode with its generation, as NFS servers name files
}

// identityOf is the identity of an open file or place. known is false if the file system tells nothing but the number.
func identityOf(file int, st *unix.Stat_t) (id identity, known bool) {
	id.inode = inode{uint64(st.Dev), st.Ino}
	var stx unix.Statx_t
	if unix.Statx(file, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BTIME, &stx) == nil && stx.Mask&unix.STATX_BTIME != 0 {
		id.born = stx.Btime
		return id, true
	}
	handle, _, err := unix.NameToHandleAt(file, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return id, false
	}
	id.handle = string(handle.Bytes())
	return id, true
}

// Call records what one call changes. Its methods may be called from several goroutines. A nil Call records nothing.
type Call struct {
	store *Store
	id    string

	mu               sync.Mutex
	dir              string // of this call in the store; "" before the first loss
	journal          *os.File
	dev              uint64            // of dir
	order            filesystem.Order  // of its file system
	flushes          int               // of the disk, for losses
	unsynced         bool              // the store has what is not on the disk yet, see syncGroup
	homes            map[string]string // directories of dir that stand for others, by the paths of those, which end with a slash
	unsaved          []byte            // lines about changes that lose nothing, which go to the journal before the next loss
	own              map[identity]bool // files that the call made
	kept             map[identity]bool // files of which all was kept before the call changed it
	altered, touched map[identity]bool // files of which the attributes or the times were
	contents         int               // how many files with contents there are
	copied           int64
	losses           Losses
	written          int64 // bytes of the journal
	atOnce           bool  // each line goes there at once

	lossLines, alteredLines, otherLines int // of the journal
}

// Losses count what a call has removed and replaced, of files that it had not made.
type Losses struct {
	Removed  int    // names
	Replaced int    // files with other content
	First    string // one of them
}

// Call returns the record of a call, which Close ends. Nothing is made on the disk before the call loses something.
func (s *Store) Call(id string) *Call {
	if s == nil {
		return nil
	}
	files := func() map[identity]bool { return map[identity]bool{} }
	return &Call{store: s, id: id, own: files(), kept: files(), altered: files(), touched: files(), homes: map[string]string{}}
}

// entry is a line of a journal.
type entry struct {
	Did  deed   `json:"did"`
	Path name   `json:"path"`
	To   name   `json:"to,omitempty"`
	Was  *state `json:"was,omitempty"`
	Part bool   `json:"part,omitempty"` // git ran or obeyed what had the name: it had been judged, or was there before
}

// deed is what was done.
type deed string

const (
	made      deed = "made"     // a name where none was
	wrote     deed = "wrote"    // into a file that was there
	altered   deed = "altered"  // mode, owner or extended attributes
	touched   deed = "touched"  // times
	removed   deed = "removed"  // a name
	moved     deed = "moved"    // to a name that was free, or that an entry before has freed
	exchanged deed = "exchange" // two names
	undone    deed = "undone"   // the entry before: the change was not made after all
	stood     deed = "stood"    // no change: a directory of the store stands for the one with that name
	ended     deed = "ended"    // the last entry of a call
)

// name is a path. In JSON it is a string; one that is not UTF-8 is quoted as Go does it.
type name string

func (n name) MarshalJSON() ([]byte, error) {
	text := string(n)
	if quoted := strconv.QuoteToASCII(text); strings.Contains(quoted, `\x`) || strings.HasPrefix(text, `"`) {
		text = quoted
	}
	return json.Marshal(text)
}

func (n *name) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if strings.HasPrefix(text, `"`) {
		plain, err := strconv.Unquote(text)
		if err != nil {
			return err
		}
		text = plain
	}
	*n = name(text)
	return nil
}

// Step is one change of the file system. No other change of the store's calls begins before its End, so that what was kept is what is lost.
// A nil Step keeps nothing.
type Step struct {
	call   *Call
	lost   []loss
	lines  []entry // in the journal, which lose nothing
	finish []func()
}

// loss is what a step loses.
type loss struct {
	did     deed
	path    string
	file    identity
	known   bool   // file is
	content string // the file with what it held; "": there is none
}

// Begin begins a change that may lose something, which End ends.
func (c *Call) Begin() *Step {
	if c == nil || c.store == nil {
		return nil
	}
	c.store.changing.Lock()
	return &Step{call: c}
}

// Overwriting announces that the content of a file will change. place is the file, opened with O_PATH. The error is a [*NotKept].
func (s *Step) Overwriting(path string, place int) error { return s.losing(someContent, path, place) }

// Emptying announces that a file will lose its content all at once. It is Overwriting otherwise.
func (s *Step) Emptying(path string, place int) error { return s.losing(itsContent, path, place) }

// Removing announces that a name will be removed, or that another file will take it. place is the file with that name, opened with O_PATH; for
// a symbolic link it is the link itself. The error is a [*NotKept].
func (s *Step) Removing(path string, place int) error { return s.losing(itsPlace, path, place) }

// Unlinking announces that a name will be removed, and that no file takes it: nobody minds if it is gone for a moment before. It is Removing
// otherwise.
func (s *Step) Unlinking(path string, place int) error { return s.losing(itsName, path, place) }

// Altering announces that the mode, the owner or extended attributes of a file will change. place is the file, opened with O_PATH. The error
// is a [*NotKept].
func (s *Step) Altering(path string, place int) error { return s.changing(altered, path, place) }

// Touching announces that the times of a file will be set. It is Altering otherwise.
func (s *Step) Touching(path string, place int) error { return s.changing(touched, path, place) }

// Moving announces that a file or directory will get another name. If a file has that name already, announce its removal first.
func (s *Step) Moving(path, to string) { s.moving(moved, path, to) }

// Exchanging announces that two files or directories will exchange their names.
func (s *Step) Exchanging(path, other string) { s.moving(exchanged, path, other) }

// moving notes a move before it is made: without its line the file would be under a name that nobody knows. A move that cannot be noted
// cannot be undone, but loses nothing.
func (s *Step) moving(did deed, path, to string) {
	if s == nil {
		return
	}
	c := s.call
	c.mu.Lock()
	defer c.mu.Unlock()
	e := entry{Did: did, Path: name(path), To: name(to)}
	if c.note(e, true) != nil {
		return
	}
	s.lines = append(s.lines, e)
	place, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(place)
	var st unix.Stat_t
	if unix.Fstat(place, &st) != nil {
		return
	}
	if file, known := identityOf(place, &st); !known || !c.own[file] {
		_ = c.saves(itsPlace, place, uint64(st.Dev), nil)
	}
}

// losing keeps what a change would lose.
func (s *Step) losing(l loses, path string, place int) error {
	if s == nil {
		return nil
	}
	c := s.call
	c.mu.Lock()
	defer c.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return notKept(path, err)
	}
	did := l.did()
	file, known := identityOf(place, &st)
	switch {
	case known && c.own[file] && did == removed:
		if st.Nlink <= 1 || st.Mode&unix.S_IFMT == unix.S_IFDIR { // its number may go to another file then
			s.finish = append(s.finish, func() { delete(c.own, file) })
		}
		if c.otherLines < maxMade {
			e := entry{Did: removed, Path: name(path), Was: &state{Mode: st.Mode, Own: true}}
			_ = c.note(e, false)
			s.lines = append(s.lines, e)
		}
		return nil
	case known && (c.own[file] || did == wrote && c.kept[file]):
		return nil
	}
	err := c.open()
	if err != nil {
		return notKept(path, err)
	}
	was, content, later, err := c.keep(l, path, place, &st)
	if content != nil {
		defer content.Close()
	}
	if err != nil {
		return notKept(path, err)
	}
	if err := c.note(entry{Did: did, Path: name(path), Was: was, Part: isPart(path)}, true); err != nil {
		c.drop(string(was.Content))
		return notKept(path, err)
	}
	s.lost = append(s.lost, loss{did, path, file, known, string(was.Content)})
	if later {
		return nil
	}
	if err := c.saves(l, place, uint64(st.Dev), content); err != nil {
		return notKept(path, err)
	}
	return nil
}

// isPart reports whether git runs or obeys what has a path.
func isPart(path string) bool {
	if protect.PartOf(path) == protect.NoPart {
		return false
	}
	dir, base, err := parentOf(path)
	if err != nil {
		return false
	}
	defer unix.Close(dir)
	return protect.IsPart(dir, filepath.Join(filepath.Dir(path), base))
}

// changing keeps what is known of a file beside its content. The line about it does not have to be on the disk before the change.
func (s *Step) changing(did deed, path string, place int) error {
	if s == nil {
		return nil
	}
	c := s.call
	c.mu.Lock()
	defer c.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil {
		return notKept(path, err)
	}
	file, known := identityOf(place, &st)
	before := c.altered
	if did == touched {
		before = c.touched
	}
	if known && (c.own[file] || c.kept[file] || before[file]) {
		return nil
	}
	was := stateOf(&st)
	var err error
	if did == altered {
		was.Attrs, err = attributes(place)
	}
	if err == nil {
		err = c.note(entry{Did: did, Path: name(path), Was: was, Part: isPart(path)}, true)
	}
	if err != nil {
		return notKept(path, err)
	}
	s.lost = append(s.lost, loss{did, path, file, known, ""})
	return nil
}

// drop removes a content that the call does not lose after all.
func (c *Call) drop(content string) {
	if content != "" {
		_ = os.Remove(filepath.Join(c.dir, content))
	}
}

// End ends the step, and says whether the change was made.
func (s *Step) End(done bool) {
	if s == nil {
		return
	}
	c := s.call
	defer c.store.changing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range s.lost {
		switch {
		case !done:
			if c.note(entry{Did: undone, Path: name(l.path)}, true) == nil {
				c.drop(l.content)
			}
			continue
		case l.did == wrote:
			c.kept[l.file] = l.known
			c.losses.Replaced++
		case l.did == altered:
			c.altered[l.file] = l.known
			continue
		case l.did == touched:
			c.touched[l.file] = l.known
			continue
		default:
			c.losses.Removed++
		}
		if c.losses.First == "" {
			c.losses.First = l.path
		}
	}
	if done {
		for _, finish := range s.finish {
			finish()
		}
		return
	}
	for _, e := range s.lines {
		_ = c.note(entry{Did: undone, Path: e.Path}, e.To != "")
	}
}

// notKept is the error of a change that could not be kept.
func notKept(path string, err error) error {
	if already, ok := errors.AsType[*NotKept](err); ok {
		return already
	}
	return &NotKept{path, err.Error(), err}
}

// Made takes notice of a file, directory or link that the call has made, which is open as a place; -1 for a further name of a file.
func (c *Call) Made(path string, place int) {
	if c == nil || c.store == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var st unix.Stat_t
	if place >= 0 && len(c.own) < maxOwn && unix.Fstat(place, &st) == nil {
		if file, known := identityOf(place, &st); known {
			c.own[file] = true
		}
	}
	_ = c.note(entry{Did: made, Path: name(path)}, false)
}

// ID is the id of the call. The call must not be nil.
func (c *Call) ID() string { return c.id }

// Losses returns what the call has lost so far.
func (c *Call) Losses() Losses {
	if c == nil {
		return Losses{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.losses
}

// note adds a line to the journal. Lines about a loss are written at once, with all before; others wait for one. After an error the journal
// does not have the line.
func (c *Call) note(e entry, loss bool) error {
	lines, most := &c.otherLines, maxMade
	switch {
	case e.Did == altered, e.Did == touched:
		lines, most = &c.alteredLines, maxAlters
	case loss:
		lines, most = &c.lossLines, maxLosses
	}
	if *lines >= most && e.Did != undone && e.Did != ended {
		if !loss {
			return nil
		}
		return errors.New("the call has changed too much")
	}
	*lines++
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	before := len(c.unsaved)
	c.unsaved = append(append(c.unsaved, line...), '\n')
	if !loss && !c.atOnce && (c.journal == nil || len(c.unsaved) < 64<<10) {
		return nil
	}
	err = c.open()
	if err == nil {
		err = c.save()
	}
	if err != nil && e.Did != undone {
		c.unsaved = c.unsaved[:before]
	}
	return err
}

// save writes what the journal does not have yet, all or nothing.
func (c *Call) save() error {
	if c.journal == nil || len(c.unsaved) == 0 {
		return nil
	}
	n, err := c.journal.Write(c.unsaved)
	if err != nil {
		return errors.Join(err, c.journal.Truncate(c.written))
	}
	c.written += int64(n)
	c.unsaved = c.unsaved[:0]
	return nil
}

// open makes the directory of the call.
func (c *Call) open() error {
	if c.dir != "" {
		return nil
	}
	if !fileExists(c.store.Dir) {
		if err := makeDir(c.store.Dir, os.MkdirAll); err != nil {
			return err
		}
		if err := syncDirs(filepath.Dir(c.store.Dir)); err != nil {
			return err
		}
	}
	dir := filepath.Join(c.store.Dir, c.id)
	if err := makeDir(dir, os.Mkdir); err != nil {
		return err
	}
	journal, err := create(filepath.Join(dir, journalName), os.O_APPEND)
	if err != nil {
		return err
	}
	return c.opened(dir, journal)
}

// opened takes notice of the directory and the journal of the call, and locks the journal: nobody undoes or removes a record that goes on.
func (c *Call) opened(dir string, journal *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(journal.Fd()), &st); err != nil {
		journal.Close()
		return err
	}
	_ = unix.Flock(int(journal.Fd()), unix.LOCK_EX|unix.LOCK_NB) // a file system without locks has none
	c.dir, c.journal, c.dev, c.order = dir, journal, uint64(st.Dev), c.store.orderOf(int(journal.Fd()), uint64(st.Dev))
	return nil
}

// makeDir makes a directory of the user alone, whatever the umask of the thread is: it may be that of a command.
func makeDir(dir string, mkdir func(string, os.FileMode) error) error {
	if err := mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// create makes a file of the user alone.
func create(file string, flags int) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

const journalName = "journal"

// Close ends the record: nothing of the call changes files any more.
func (c *Call) Close() error {
	if c == nil || c.store == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.journal == nil && len(c.unsaved) == 0 {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	_ = c.note(entry{Did: ended}, false)
	err := errors.Join(c.save(), c.syncGroup())
	if closed := c.journal.Close(); err == nil {
		err = closed
	}
	c.journal = nil
	if err != nil {
		return fmt.Errorf("record of what call %s changed: %w", c.id, err)
	}
	return nil
}
