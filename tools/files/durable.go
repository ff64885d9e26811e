package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
)

// durability returns the setting for the next change.
func (s *session) durability() Durability {
	if s.options.Durability == nil {
		return agenttool.FileSynced
	}
	return s.options.Durability()
}

// syncContent waits until f is on disk, if required. FileSynced and unknown values require it.
func (t *target) syncContent(s *session, f *os.File) error {
	if t.durability == agenttool.NotSynced {
		return nil
	}
	return s.sync(f)
}

// finish closes a complete temporary file.
func (t *target) finish(s *session, temp *temporary) error {
	if err := t.syncContent(s, temp.file); err != nil {
		return err
	}
	return temp.written()
}

// syncName waits, if required, until the new name is on disk, and the names of as many created directories above it.
func (t *target) syncName(s *session, made int) error {
	if t.durability != agenttool.FullySynced {
		return nil
	}
	err := s.syncDir(t.dir.File())
	for up := t.path; made > 0 && err == nil; made-- {
		up.Resolved = filepath.Dir(up.Resolved)
		err = s.syncParent(up)
	}
	return t.notDurable(err)
}

func (s *session) syncParent(p agenttool.Path) error {
	dir, _, err := s.workspace.Parent(p, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	return s.syncDir(dir.File())
}

// syncDir waits until the names in a directory are on disk, if its file system can do that.
func (s *session) syncDir(dir *os.File) error {
	err := s.sync(dir)
	if filesystem.CannotSync(err) {
		return nil
	}
	return err
}

// missingDirs returns the number of missing directories above p.
func (s *session) missingDirs(p agenttool.Path) (n int) {
	for {
		dir, _, err := s.workspace.Parent(p, false)
		if err == nil {
			dir.Close()
		}
		if !errors.Is(err, os.ErrNotExist) {
			return n
		}
		p.Resolved = filepath.Dir(p.Resolved)
		n++
	}
}

// notDurable returns the error for a change that may not be on disk.
func (t *target) notDurable(err error) error {
	if err == nil {
		return nil
	}
	return agenttool.Failure(agenttool.PartialFailure, "not_durable", fmt.Sprintf(
		"%s holds its new content, but it could not be made sure that this is on the disk (%v): look after the disk; "+
			"files.durability in the settings says that it has to be", t.path.Spelling, err)).Because(err)
}
