package files

import (
	"crypto/rand"
	"errors"
	"os"

	"toolhost/tools/workspace"
)

// temporary is a file of ours beside the target. Where the file system can, it has no name while it is written, so that a
// host that is killed leaves nothing; else, and for the moment of a replacement, it has one that cannot be foreseen.
type temporary struct {
	dir  *workspace.Dir
	name string // empty when it has none of ours
	file *os.File
	ino  uint64
}

func newTemporary(dir *workspace.Dir, perm os.FileMode) (*temporary, error) {
	f, err := openNameless(dir, perm)
	if err == nil {
		return opened(&temporary{dir: dir, file: f})
	}
	name := temporaryName()
	f, err = dir.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return opened(&temporary{dir: dir, name: name, file: f})
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
	return t.renamed(to, t.dir.Rename(t.name, to))
}

// named gives the file a name of ours, if it has none.
func (t *temporary) named() error {
	if t.name != "" {
		return nil
	}
	name := temporaryName()
	err := linkNameless(t.file, t.dir, name)
	if err == nil {
		t.name = name
	}
	return err
}

// become gives the file the name to, which must not exist.
func (t *temporary) become(to string) error {
	if t.name == "" {
		return linkNameless(t.file, t.dir, to)
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
		_, gone := t.dir.Lstat(t.name)
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
		_ = t.dir.Remove(t.name) // nothing more can be done, and what failed before has been said
	}
}
