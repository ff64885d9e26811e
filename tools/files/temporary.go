package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"toolhost/tools/workspace"
)

// temporary is a file of ours that becomes the target. Where the file system can, it has no name while it is written, so that a
// host that is killed leaves nothing; else it has one beside the target that cannot be foreseen. The kernel puts only a file with a
// name in the place of another: for that moment it has one in the stage, which the next session clears, or beside the target
// where the stage is missing or on another file system. The stage has a link to each name beside a target, by which the next session
// removes it.
type temporary struct {
	dir   *workspace.Dir
	stage string
	note  string   // the link in the stage; empty when there is none
	name  string   // empty when it has none of ours
	place *os.File // the directory of name, if that is the stage
	file  *os.File
	ino   uint64
}

func (s *session) newTemporary(dir *workspace.Dir, perm os.FileMode) (*temporary, error) {
	stage := ""
	if s.options.Stage != nil {
		stage = s.options.Stage()
	}
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

// opened completes a temporary whose file is open.
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

// written closes a file that has a name: over a network it shows only then that it could not be written. One without a name is
// open until it has got one, and lies on a file system of this machine.
func (t *temporary) written() error {
	if t.name == "" {
		return nil
	}
	return t.file.Close()
}

// rename gives the file the name to, in the place of what has it.
func (t *temporary) rename(to string) error {
	if err := t.named(); err != nil {
		return err
	}
	return t.renamed(to, t.dir.RenameFrom(t.at(), t.name, to))
}

// named gives the file a name of ours, if it has none.
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

// at is the directory in which the file has its name.
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

// renamed notes that a rename succeeded. One over a network can fail after it happened.
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

// discard closes the temporary and removes the name of ours that it has.
func (t *temporary) discard() {
	t.file.Close()
	if t.name != "" {
		_ = unix.Unlinkat(int(t.at().Fd()), t.name, 0) // nothing more can be done, and what failed before has been said
	}
	t.forget()
	if t.place != nil {
		t.place.Close()
	}
}
