package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/tools/workspace"
)

// temporary is a new file that becomes the target. If the file system supports it, the file has no name while it is
// written, so that a killed host leaves nothing behind; otherwise it has an unpredictable name beside the target. The
// kernel can only replace a file by a file with a name. For that moment the temporary has a name in the stage, which
// the next session clears, or beside the target if the stage is missing or on another file system. For each name beside
// a target the stage has a link, which the next session uses to remove that name.
type temporary struct {
	dir   *workspace.Dir
	stage string
	note  string   // the link in the stage; empty if there is none
	name  string   // empty if it has no temporary name
	place *os.File // the directory of name, if that is the stage
	file  *os.File
	ino   uint64
}

// newTemporary makes the file for a target in dir. stage is the session's, "" for none.
func newTemporary(stage string, dir *workspace.Dir, perm os.FileMode) (*temporary, error) {
	f, err := openNameless(dir, perm)
	if err == nil {
		return opened(&temporary{dir: dir, stage: stage, file: f})
	}
	t := &temporary{dir: dir, stage: stage, name: temporaryName()}
	t.noteBeside()
	t.file, err = dir.Open(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		t.forget()
		return nil, err
	}
	return opened(t)
}

// noteBeside notes in the stage that the file is about to have its name beside the target. Without the note a host that is killed may leave
// the file.
func (t *temporary) noteBeside() {
	dir, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", t.dir.File().Fd()))
	if note := filepath.Join(t.stage, t.name); err == nil && t.stage != "" && os.Symlink(filepath.Join(dir, t.name), note) == nil {
		t.note = note
	}
}

// forget removes the note.
func (t *temporary) forget() {
	if t.note != "" {
		_ = os.Remove(t.note) // the next session does
		t.note = ""
	}
}

func temporaryName() string { return ".toolhost-" + rand.Text() + ".tmp" }

// opened completes a temporary after its file was opened.
func opened(t *temporary) (*temporary, error) {
	st, err := stat(t.file)
	if err != nil {
		t.discard()
		return nil, err
	}
	t.ino = st.Ino
	return t, nil
}

func (t *temporary) write(data []byte) error {
	_, err := t.file.Write(data)
	return err
}

// written closes a file with a name: network file systems report write errors only then. A nameless file stays open
// until it has a name; it lies on a local file system.
func (t *temporary) written() error {
	if t.name == "" {
		return nil
	}
	return t.file.Close()
}

// rename renames the file to to, replacing an existing file.
func (t *temporary) rename(to string) error {
	if err := t.named(); err != nil {
		return err
	}
	return t.renamed(to, t.dir.RenameFrom(t.at(), t.name, to))
}

// named gives the file a temporary name, if it has none.
func (t *temporary) named() error {
	if t.name != "" {
		return nil
	}
	name := temporaryName()
	if stage, err := os.Open(t.stage); err == nil {
		if linkNameless(t.file, stage, name) == nil {
			t.name, t.place = name, stage
			return nil
		}
		stage.Close()
	}
	t.name = name
	t.noteBeside()
	err := linkNameless(t.file, t.dir.File(), name)
	if err != nil {
		t.name = ""
	}
	return err
}

// at returns the directory of the file's name.
func (t *temporary) at() *os.File {
	if t.place != nil {
		return t.place
	}
	return t.dir.File()
}

// become gives the file the name to, which must not exist.
func (t *temporary) become(to string) error {
	if t.name == "" {
		return linkNameless(t.file, t.dir.File(), to)
	}
	err := t.renamed(to, renameNew(t.dir.File(), t.name, to))
	if cannot(err) {
		err = t.dir.Link(t.name, to)
	}
	return err
}

// renamed checks the outcome of a rename. Over a network a rename can report an error after it succeeded.
func (t *temporary) renamed(to string, err error) error {
	if err != nil {
		there, lost := t.dir.Lstat(to)
		gone := unix.Fstatat(int(t.at().Fd()), t.name, &unix.Stat_t{}, unix.AT_SYMLINK_NOFOLLOW)
		if lost == nil && there.Ino == t.ino && errors.Is(gone, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		t.name = ""
	}
	return err
}

// discard closes the temporary and removes its temporary name.
func (t *temporary) discard() {
	t.file.Close()
	if t.name != "" {
		_ = unix.Unlinkat(int(t.at().Fd()), t.name, 0) // after a failure nothing more can be done; the first error was returned
	}
	t.forget()
	if t.place != nil {
		t.place.Close()
	}
}

// cannot reports whether err means that the file system lacks an operation.
func cannot(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) ||
		errors.Is(err, syscall.EINVAL)
}

// renameNew renames from to to in the open directory dir. It fails with EEXIST if to exists, and with EINVAL if the
// file system cannot check this atomically.
func renameNew(dir *os.File, from, to string) error {
	fd := int(dir.Fd())
	for {
		if err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE); err != unix.EINTR {
			return err
		}
	}
}

// openNameless opens a new file without a name in dir. It fails if the file system has no such files, or if the file
// could not be linked later.
func openNameless(dir *workspace.Dir, perm os.FileMode) (*os.File, error) {
	if err := unix.Access("/proc/self/fd", unix.X_OK); err != nil {
		return nil, err
	}
	return dir.Open(".", os.O_RDWR|unix.O_TMPFILE, perm)
}

// linkNameless links a nameless file as the name to, which must not exist.
func linkNameless(f, dir *os.File, to string) error {
	for {
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), int(dir.Fd()), to, unix.AT_SYMLINK_FOLLOW)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "link", Path: to, Err: err}
		}
		return nil
	}
}
