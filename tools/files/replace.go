package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// commit replaces the content old of the target by data. inPlace is the reason for rewriting the file in place, or
// empty. After an error the old content is intact, and only new directories for a new file may remain, unless the
// error has class partial_failure. errMoved means that another process changed the target.
func (t *target) commit(ctx context.Context, s *session, data, old []byte) (inPlace string, err error) {
	t.durability = s.durability()
	if s.options.Writing != nil {
		done, err := s.options.Writing(t.path.Resolved)
		if err != nil {
			return "", ioFailure("write", t.path.Spelling, err)
		}
		defer done()
	}
	if !t.exists() {
		made, err := t.create(ctx, s, data)
		if err == nil {
			t.record.made(t.path.Resolved, made)
		}
		return "", ioFailure("write", t.path.Spelling, err)
	}
	err = t.replace(ctx, s, data, old)
	if kept, ok := errors.AsType[lossError](err); ok {
		return string(kept), ioFailure("write", t.path.Spelling, t.rewrite(ctx, s, data, old))
	}
	return "", ioFailure("write", t.path.Spelling, err)
}

// lossError is the reason why replacing a file by a new one would lose something.
type lossError string

func (n lossError) Error() string { return "cannot be replaced: " + string(n) }

// replace atomically replaces the old file by a new one. It fails with notKept if the old file must stay.
func (t *target) replace(ctx context.Context, s *session, data, old []byte) error {
	if t.stat.Nlink > 1 {
		return lossError("it has further names (hard links)")
	}
	temp, err := newTemporary(s.options.stage(), t.dir, 0o600)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return lossError("its directory takes no new files")
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
	if err := t.finish(s, temp); err != nil {
		return err
	}
	err = temp.named()
	if err == nil {
		step := t.record.begin()
		err = t.announce(step.Removing)
		if err == nil {
			err = t.unmoved(old) // the last thing before the rename: what another process writes in between is lost
		}
		if err != nil {
			return errors.Join(err, t.end(step, false))
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err = temp.rename(t.name)
		if ended := t.end(step, err == nil); ended != nil {
			return ended
		}
	}
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, os.ErrPermission) {
		return lossError("it is mounted, or its directory does not allow replacing it")
	}
	if err != nil {
		return err
	}
	return t.syncName(s, 0)
}

// unmoved returns errMoved unless the name still leads to the file that was read, in the same state. If a change may
// have left the status the same, it compares the content.
func (t *target) unmoved(old []byte) error {
	if identify(&t.stat).racy(t.looked) {
		if now, err := t.read(maxDocument); err != nil || !bytes.Equal(now, old) {
			return cmp.Or(err, errMoved)
		}
	}
	st, err := t.dir.Lstat(t.name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err != nil || identify(&st) != identify(&t.stat) {
		return errMoved
	}
	return nil
}

// create creates the file and missing directories above it, and returns how many it made. It fails with errMoved if the file exists by now.
func (t *target) create(ctx context.Context, s *session, data []byte) (made int, err error) {
	if t.dir == nil {
		made = s.missingDirs(t.path)
		dir, name, err := s.workspace.Parent(t.path, true)
		if err != nil {
			return made, err
		}
		t.dir, t.name = dir, name
	}
	temp, err := newTemporary(s.options.stage(), t.dir, 0o666) // the kernel applies the umask, or the directory's default ACL
	if err != nil {
		return made, err
	}
	defer temp.discard()
	if err := temp.write(data); err != nil {
		return made, err
	}
	if err := t.keepSource(temp.file); err != nil {
		return made, err
	}
	if err := t.finish(s, temp); err != nil {
		return made, err
	}
	if err := context.Cause(ctx); err != nil {
		return made, err
	}
	err = temp.become(t.name)
	if cannot(err) {
		err = t.createDirectly(s, data)
	}
	if errors.Is(err, os.ErrExist) {
		return made, errMoved
	}
	if err != nil {
		return made, err
	}
	return made, t.syncName(s, made)
}

// createDirectly is create for file systems that have neither an exclusive rename nor hard links. It is not atomic.
func (t *target) createDirectly(s *session, data []byte) error {
	f, err := t.dir.Open(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = t.keepSource(f)
	}
	if err == nil {
		err = t.syncContent(s, f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, t.dir.Remove(t.name))
	}
	return nil
}

// keepSource gives a new file the attributes of the file whose place it takes: all of them or, where they cannot be kept, its mode.
func (t *target) keepSource(f *os.File) error {
	if t.source == nil {
		return nil
	}
	err := keepAttributes(f, t.source)
	if _, lost := errors.AsType[lossError](err); lost {
		err = unix.Fchmod(int(f.Fd()), t.source.mode()&0o777)
	}
	if errors.Is(err, os.ErrPermission) { // a file system without modes
		return nil
	}
	return err
}

// rewrite overwrites the file in place.
func (t *target) rewrite(ctx context.Context, s *session, data, old []byte) error {
	if err := t.unmoved(old); err != nil {
		return err
	}
	step := t.record.begin()
	err := t.announce(step.Overwriting)
	if err == nil {
		err = context.Cause(ctx)
	}
	kept := err == nil
	if kept {
		err = t.overwrite(data, old)
	}
	step.End(kept) // what failed may be half written
	if err != nil {
		return err
	}
	return t.notDurable(t.syncContent(s, t.file))
}

// overwrite writes data over old, with room for all of it and with the set-id bits that the file has.
func (t *target) overwrite(data, old []byte) error {
	if err := t.keepSetID(); err != nil { // if it fails, the bits could not be restored later
		return err
	}
	if err := reserve(t.file, int64(len(data))); err != nil {
		return errors.Join(err, t.file.Truncate(int64(len(old))))
	}
	return cmp.Or(overwrite(t.file, data, old), t.keepSetID())
}

// keepSetID sets the set-id bits of the file, which the kernel clears when an ordinary user writes to it.
func (t *target) keepSetID() error {
	if t.mode()&(unix.S_ISUID|unix.S_ISGID) == 0 {
		return nil
	}
	return unix.Fchmod(int(t.file.Fd()), t.mode())
}

// rewritable is the part of a file that overwrite needs.
type rewritable interface {
	io.WriterAt
	Truncate(size int64) error
}

// overwrite writes data over old, from the first different byte on, and restores old if that fails.
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

// keepAttributes gives f the owner, mode and extended attributes of the target. It fails with notKept if one cannot
// be set.
func keepAttributes(f *os.File, t *target) error {
	st, err := stat(f)
	if err != nil {
		return err
	}
	fd := int(f.Fd())
	if st.Uid != t.stat.Uid || st.Gid != t.stat.Gid {
		if err := unix.Fchown(fd, int(t.stat.Uid), int(t.stat.Gid)); err != nil {
			return lossError(fmt.Sprintf("its owner (%d:%d) cannot be kept", t.stat.Uid, t.stat.Gid))
		}
	}
	if err := unix.Fchmod(fd, t.mode()); err != nil {
		return lossError("its mode cannot be kept")
	}
	if err := keepXattrs(fd, int(t.file.Fd())); err != nil {
		return lossError("its extended attributes cannot be kept")
	}
	if st, err = stat(f); err != nil {
		return err
	}
	if st.Mode != t.stat.Mode || st.Uid != t.stat.Uid || st.Gid != t.stat.Gid {
		return lossError("its owner or mode cannot be kept")
	}
	return nil
}

// reserve allocates space for size bytes of f without changing its size. It does nothing if the file system does not
// support that.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		}
		return err
	}
}
