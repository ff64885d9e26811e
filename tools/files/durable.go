package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"toolhost/agenttool"
)

// Durability is what of a change is on the disk before a call ends. A file that is replaced has its old or its new content
// in each case, whatever becomes of this process. One that has to be rewritten in place, which the result says, holds a
// mixture of both if this process or the machine ends meanwhile.
type Durability string

const (
	// NotSynced leaves it to the system when it writes. After a crash of the machine a file that was just written can be
	// empty: XFS and ext4 may lose its new content, and XFS its old one too.
	NotSynced Durability = "none"

	// FileSynced has the content on the disk before the file takes its name: after a crash of the machine a file that was
	// replaced has its old or its new content. What is rewritten in place is on the disk when the call ends.
	FileSynced Durability = "file"

	// FullySynced has the name on the disk as well: what a call has reported survives a crash of the machine.
	FullySynced Durability = "full"
)

// durability is what holds for the next change.
func (s *session) durability() Durability {
	if s.options.Durability == nil {
		return FileSynced
	}
	return s.options.Durability()
}

// syncContent waits until f is on the disk, if it has to be. FileSynced and everything unknown has.
func (t *target) syncContent(s *session, f *os.File) error {
	if t.durability == NotSynced {
		return nil
	}
	return s.sync(f)
}

// finish closes a temporary that holds all it has to.
func (t *target) finish(s *session, temp *temporary) error {
	if err := t.syncContent(s, temp.file); err != nil {
		return err
	}
	return temp.written()
}

// syncName waits until the name of a file that was renamed or linked is on the disk, if it has to be, and those of as
// many directories above it as were made for it.
func (t *target) syncName(s *session, made int) error {
	if t.durability != FullySynced {
		return nil
	}
	err := ignoreUnsupported(s.sync(t.dir.File()))
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
	return ignoreUnsupported(s.sync(dir.File()))
}

// ignoreUnsupported drops the error of file systems that cannot write a directory by itself.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// missingDirs is how many directories above p do not exist.
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

// notDurable says that a change was made of which nobody knows whether it is on the disk.
func (t *target) notDurable(err error) error {
	if err == nil {
		return nil
	}
	return agenttool.Failure(agenttool.PartialFailure, "not_durable", fmt.Sprintf(
		"%s holds its new content, but it could not be made sure that this is on the disk (%v): look after the disk; "+
			"files.durability in the settings says that it has to be", t.path.Spelling, err)).Because(err)
}
