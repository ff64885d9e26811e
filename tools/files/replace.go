package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/tools/workspace"
)

// commit makes data the content of the target, whose content so far is old. It returns why that was done in place,
// empty when it was not. After an error the old content is there, and nothing else; errMoved says that somebody else
// changed the target.
func (t *target) commit(s *session, data, old []byte) (inPlace string, err error) {
	if !t.exists() {
		return "", ioFailure("write", t.path.Spelling, t.create(s, data))
	}
	err = t.replace(data)
	var kept notKept
	if errors.As(err, &kept) {
		return string(kept), ioFailure("write", t.path.Spelling, t.rewrite(data, old))
	}
	return "", ioFailure("write", t.path.Spelling, err)
}

// notKept is the reason why a file cannot be replaced by a new one without losing something.
type notKept string

func (n notKept) Error() string { return "cannot be replaced: " + string(n) }

// replace puts a new file in the place of the old one, at once. It fails with notKept when the old one has to stay.
func (t *target) replace(data []byte) error {
	if t.stat.Nlink > 1 {
		return notKept("it has further names (hard links)")
	}
	temp, err := newTemporary(t.dir, 0o600)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return notKept("its directory takes no new files")
	}
	if err != nil {
		return err
	}
	defer temp.discard()
	if err := temp.write(data); err != nil {
		return err
	}
	if err := keepAttributes(temp.file, t); err != nil {
		return err
	}
	if err := temp.file.Close(); err != nil {
		return err
	}
	if err := t.unmoved(); err != nil {
		return err
	}
	err = temp.rename(t.name)
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, os.ErrPermission) {
		return notKept("it is mounted, or its directory lets nobody replace it")
	}
	return err
}

// unmoved returns errMoved unless the name leads to the file that was read, in the state in which it was read.
func (t *target) unmoved() error {
	st, err := t.dir.Lstat(t.name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err != nil || identify(&st) != identify(&t.stat) {
		return errMoved
	}
	return nil
}

// create makes a file that does not exist, and the directories that lead to it. It fails with errMoved when the file
// exists by now.
func (t *target) create(s *session, data []byte) error {
	if t.dir == nil {
		dir, name, err := s.workspace.Parent(t.path, true)
		if err != nil {
			return err
		}
		t.dir, t.name = dir, name
	}
	temp, err := newTemporary(t.dir, 0o666) // the kernel takes off the umask, or adds the directory's default ACL
	if err != nil {
		return err
	}
	defer temp.discard()
	if err := temp.write(data); err != nil {
		return err
	}
	if err := temp.file.Close(); err != nil {
		return err
	}
	err = t.dir.Link(temp.name, t.name)
	switch {
	case errors.Is(err, os.ErrExist):
		return errMoved
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
		return t.createDirectly(data) // a file system without hard links
	}
	return err
}

// createDirectly is create for file systems without hard links.
func (t *target) createDirectly(data []byte) error {
	f, err := t.dir.Open(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, t.dir.Remove(t.name))
	}
	return nil
}

// rewrite writes data over old in the file itself.
func (t *target) rewrite(data, old []byte) error {
	if err := t.unmoved(); err != nil {
		return err
	}
	if err := reserve(t.file, int64(len(data))); err != nil {
		return errors.Join(err, t.file.Truncate(int64(len(old))))
	}
	return overwrite(t.file, data, old)
}

// rewritable is the part of a file that overwrite needs.
type rewritable interface {
	io.WriterAt
	Truncate(size int64) error
}

// overwrite writes data over old, from the first byte in which they differ, and puts old back if that fails.
func overwrite(f rewritable, data, old []byte) error {
	same := commonPrefix(data, old)
	_, err := f.WriteAt(data[same:], int64(same))
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		return nil
	}
	_, undo := f.WriteAt(old[same:], int64(same))
	if undo = errors.Join(undo, f.Truncate(int64(len(old)))); undo != nil {
		return halfWritten(err, undo)
	}
	return err
}

// temporary is a file of ours beside the target, with a name that nobody can foresee.
type temporary struct {
	dir  *workspace.Dir
	name string // empty when it has been renamed
	file *os.File
}

func newTemporary(dir *workspace.Dir, perm os.FileMode) (*temporary, error) {
	name := ".toolhost-" + rand.Text() + ".tmp"
	f, err := dir.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return &temporary{dir: dir, name: name, file: f}, nil
}

func (t *temporary) write(data []byte) error {
	_, err := t.file.Write(data)
	return err
}

func (t *temporary) rename(to string) error {
	err := t.dir.Rename(t.name, to)
	if err == nil {
		t.name = ""
	}
	return err
}

// discard removes the temporary, unless it has been renamed.
func (t *temporary) discard() {
	t.file.Close()
	if t.name != "" {
		_ = t.dir.Remove(t.name) // nothing more can be done, and what failed before has been said
	}
}

// keepAttributes gives f the owner, mode and extended attributes of the target. What cannot be given is notKept.
func keepAttributes(f *os.File, t *target) error {
	st, err := stat(f)
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	if st.Uid != t.stat.Uid || st.Gid != t.stat.Gid {
		if err := unix.Fchown(fd, int(t.stat.Uid), int(t.stat.Gid)); err != nil {
			return notKept(fmt.Sprintf("its owner (%d:%d) cannot be kept", t.stat.Uid, t.stat.Gid))
		}
	}
	if err := unix.Fchmod(fd, t.mode()); err != nil {
		return notKept("its mode cannot be kept")
	}
	if err := keepXattrs(fd, int(t.file.Fd())); err != nil {
		return notKept("its extended attributes cannot be kept")
	}
	if st, err = stat(f); err != nil {
		return err
	}
	if st.Mode != t.stat.Mode || st.Uid != t.stat.Uid || st.Gid != t.stat.Gid {
		return notKept("its owner or mode cannot be kept")
	}
	return nil
}
