package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"toolhost/agenttool"
)

// Durability selects the parts of a change that are on disk before a call ends. A replaced file always has its old or
// its new content, whatever happens to this process. A file that is rewritten in place, as the result then says,
// holds a mixture of both if this process or the machine ends meanwhile.
type Durability string

const (
	// NotSynced leaves the time of the write to the system. After a crash of the machine a new file can be empty: XFS
	// and ext4 may lose its new content, and XFS its old one too.
	NotSynced Durability = "none"

	// FileSynced writes the content to disk before the file gets its name: after a crash of the machine a replaced
	// file has its old or its new content. A file rewritten in place is on disk when the call ends.
	FileSynced Durability = "file"

	// FullySynced also writes the name to disk: a reported change survives a crash of the machine.
	FullySynced Durability = "full"
)

// durability returns the setting for the next change.
func (s *session) durability() Durability {
	if s.options.Durability == nil {
		return FileSynced
	}
	return s.options.Durability()
}

// syncContent waits until f is on disk, if required. FileSynced and unknown values require it.
func (t *target) syncContent(s *session, f *os.File) error {
	if t.durability == NotSynced {
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

// ignoreUnsupported drops the error of file systems that cannot sync a directory.
func ignoreUnsupported(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
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
