package keep

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"
)

// A copy must not be less safe than what it is a copy of: the power may fail at any moment after a change, and the disk may have the change
// by then. So each change waits until its copy is on the disk, or until the file system is sure to write the copy first. The latter costs no
// flush of the disk, so that a command removes ten thousand files as fast as ever:
//
//   - A file that a command removes gets its second name in a directory of the store that stands for the directory where it was, with the
//     name that it had. That directory is in the journal, on the disk, before its first file comes. A line for each file follows at
//     leisure: without it the name tells as much (see [lostLines]). The content is on the disk if it was before: it is the same file.
//   - Other lines and copies are written out, and synced if that is not enough.

// orderOf is the order of the file system of a file that is lost.
func (s *Store) orderOf(place int, dev uint64) filesystem.Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.orders[dev]
	if !ok {
		if s.orders == nil {
			s.orders = map[uint64]filesystem.Order{}
		}
		known = filesystem.OrderOf(place, dev)
		s.orders[dev] = known
	}
	return known
}

// loses is what a change takes away from a file.
type loses uint8

const (
	itsName     loses = iota // and no file takes it
	itsPlace                 // another file takes its name, at once
	itsContent               // all at once
	someContent              // part by part, in no order
)

func (l loses) did() deed {
	if l == itsName || l == itsPlace {
		return removed
	}
	return wrote
}

// saves makes sure that all that the journal and a content have is not lost with the power, once a change is made that takes something from a
// file of the device. The content may be nil. The names in dirs, directories of the store, are as safe then where they have to be synced at all.
func (c *Call) saves(l loses, place int, dev uint64, content *os.File, dirs ...string) error {
	if c.store.orderOf(place, dev) == filesystem.NeverKept {
		return nil
	}
	if dev == c.dev && c.order == filesystem.InOrder && l != someContent {
		return errors.Join(writeOut(content), writeOut(c.journal))
	}
	if c.isLater() {
		return nil
	}
	if c.order == filesystem.InOrder { // the journal's sync takes all before it along
		return cmp.Or(writeOut(content), syncFile(c.journal))
	}
	if c.order == filesystem.AnyOrder {
		dirs = append(dirs, c.dir, c.store.Dir)
	}
	return syncAll([]*os.File{content, c.journal}, dirs...)
}

// Where each loss needs a flush of the disk, the copies of a call that loses very many come there in groups: none is later than syncPause,
// nor than the end of the call.
const (
	syncedAlone = 500
	syncPause   = 100 * time.Millisecond
)

// isLater reports whether what the store has will be synced with what comes next.
func (c *Call) isLater() bool {
	c.flushes++
	if c.flushes <= syncedAlone {
		return false
	}
	if !c.unsynced {
		c.unsynced = true
		time.AfterFunc(syncPause, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			_ = c.syncGroup() // what is not on the disk now is tried again at the end, which reports it
		})
	}
	return true
}

// syncGroup waits until all of the store is on the disk that was to be there later.
func (c *Call) syncGroup() error {
	if !c.unsynced {
		return nil
	}
	dir, err := os.Open(c.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", c.dir, err)
	}
	c.unsynced = false
	return nil
}

// writeOut writes a file out, so that a file system that keeps the order of its changes never has a later one without.
func writeOut(f *os.File) error {
	if f == nil {
		return nil
	}
	err := unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	if err != nil {
		return fmt.Errorf("write %s out: %w", f.Name(), err)
	}
	return nil
}

// syncFile waits until a file is on the disk.
func syncFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return filesystem.Sync(f)
}

// syncDirs waits until the names in directories are on the disk.
func syncDirs(dirs ...string) error { return syncAll(nil, dirs...) }

// syncAll waits until files, which may be nil, and the names in directories are on the disk. Nothing depends on which of them is there first, so
// all are synced at the same time: the kernel has one flush of the disk serve all that wait for one.
func syncAll(files []*os.File, dirs ...string) error {
	var wait sync.WaitGroup
	errs := make([]error, len(files)+len(dirs))
	for i, f := range files {
		wait.Go(func() { errs[i] = syncFile(f) })
	}
	for i, dir := range dirs {
		wait.Go(func() { errs[len(files)+i] = syncDir(dir) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return filesystem.Sync(f)
}

// takeName gives a file that is about to lose a name another one in the store, with the same last part, if both are on one mount. It returns
// what leads there from the directory of the call; "" if that cannot be. A place of another mount namespace cannot be linked from, so
// the host's own name for the file is used.
func (c *Call) takeName(l loses, path string, st *unix.Stat_t) (content string, err error) {
	if uint64(st.Dev) != c.dev {
		return "", nil
	}
	parent, base := filepath.Split(path)
	dir, err := unix.Openat2(unix.AT_FDCWD, parent, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return "", nil
	}
	defer unix.Close(dir)
	home := c.homes[parent]
	if home != "" && fileExists(filepath.Join(c.dir, home, base)) {
		home = "" // the name was lost before
	}
	isNew := home == ""
	if isNew {
		c.contents++
		home = fmt.Sprint(c.contents)
		if err := makeDir(filepath.Join(c.dir, home), os.Mkdir); err != nil {
			return "", err
		}
	}
	content = filepath.Join(home, base)
	into := filepath.Join(c.dir, content)
	took := c.link
	if c.order == filesystem.ByMoves && l == itsName {
		took = c.moveAndLink
	}
	if !took(dir, base, into, st) {
		if isNew {
			_ = unix.Rmdir(filepath.Join(c.dir, home))
		}
		return "", nil
	}
	var unsynced []string
	if c.order == filesystem.AnyOrder || c.order == filesystem.ByMoves && l != itsName {
		unsynced = []string{filepath.Join(c.dir, home)}
	}
	if isNew {
		err = c.stands(home, parent, dir, unsynced...)
	} else if len(unsynced) > 0 && !c.isLater() {
		err = syncDirs(unsynced...)
	}
	if err != nil {
		return "", errors.Join(err, unix.Unlink(into))
	}
	c.homes[parent] = home
	return content, nil
}

// stands notes for which directory one of the store stands, and waits until that is on the disk, with the names in the given ones.
func (c *Call) stands(home, parent string, dir int, unsynced ...string) error {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return err
	}
	was := stateOf(&st)
	var err error
	if was.Attrs, err = attributes(dir); err != nil {
		return err
	}
	was.Content = name(home)
	if err := c.note(entry{Did: stood, Path: name(filepath.Clean(parent)), Was: was}, true); err != nil {
		return err
	}
	return c.saves(itsName, dir, c.dev, nil, unsynced...)
}

// link gives a file a second name, if it is still the file.
func (c *Call) link(dir int, base, into string, st *unix.Stat_t) bool {
	if unix.Linkat(dir, base, unix.AT_FDCWD, into, 0) != nil {
		return false
	}
	if isStill(into, st) {
		return true
	}
	_ = unix.Unlink(into)
	return false
}

// moveAndLink gives a file a second name by moving it and giving its name back, which is about to go anyway. After a move btrfs writes
// directories with all that belongs to it, while after a mere link a directory that is synced may lose the old name before the disk has
// the new one.
func (c *Call) moveAndLink(dir int, base, into string, st *unix.Stat_t) bool {
	if unix.Renameat2(dir, base, unix.AT_FDCWD, into, unix.RENAME_NOREPLACE) != nil {
		return false
	}
	if isStill(into, st) && unix.Linkat(unix.AT_FDCWD, into, dir, base, 0) == nil {
		return true
	}
	_ = unix.Renameat2(unix.AT_FDCWD, into, dir, base, unix.RENAME_NOREPLACE)
	return false
}

// isStill reports whether a name in the store leads to a file.
func isStill(into string, st *unix.Stat_t) bool {
	var now unix.Stat_t
	return unix.Lstat(into, &now) == nil && now.Dev == st.Dev && now.Ino == st.Ino
}

// lostLines are the changes of a call that the store knows by the names of files alone: the power failed before the disk had the lines. Files
// that have their names still were not lost. They come after the changes of the journal.
func lostLines(dir string, homes, entries []entry) (lost []entry) {
	named := map[name]bool{}
	for _, e := range entries {
		if e.Was != nil {
			named[e.Was.Content] = true
			if e.Did == removed && e.Was.Mode&unix.S_IFMT == unix.S_IFDIR {
				named[e.Path] = true
			}
		}
	}
	var dirs []entry
	for _, home := range homes {
		files, _ := os.ReadDir(filepath.Join(dir, string(home.Was.Content)))
		for _, f := range files {
			content := name(filepath.Join(string(home.Was.Content), f.Name()))
			path := filepath.Join(string(home.Path), f.Name())
			var st unix.Stat_t
			if named[content] || unix.Lstat(filepath.Join(dir, string(content)), &st) != nil || isStill(path, &st) {
				continue
			}
			was := stateOf(&st)
			was.Content, was.Same, was.Size = content, true, st.Size
			lost = append(lost, entry{Did: removed, Path: name(path), Was: was})
		}
		if !named[home.Path] && !fileExists(string(home.Path)) {
			named[home.Path] = true
			was := *home.Was
			was.Content = ""
			dirs = append(dirs, entry{Did: removed, Path: home.Path, Was: &was})
		}
	}
	slices.SortStableFunc(dirs, func(a, b entry) int { return strings.Count(string(b.Path), "/") - strings.Count(string(a.Path), "/") })
	return append(lost, dirs...) // the deepest first: undoing begins at the end
}
