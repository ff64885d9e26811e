package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// maxDocument is the size in bytes of the largest file that can be changed, unless Options.Memory sets a smaller
// bound: it is held in memory.
const maxDocument = 64 << 20

// target is the place of a change: a directory, a name in it, and the regular file with that name.
type target struct {
	path agenttool.Path
	dir  *workspace.Dir // nil if it does not exist yet
	name string
	file *os.File // nil if there is no file

	looked time.Time // taken before stat was read
	stat   unix.Stat_t

	durability Durability
	secrets    workspace.Secrets

	record record // of what the call changes

	source *target // of a new file that takes the place of another: the other, whose attributes it keeps; else nil
}

func (t *target) close() {
	if t.file != nil {
		t.file.Close() // this also releases the lock
	}
	if t.dir != nil {
		t.dir.Close()
	}
}

// exists reports whether the file exists.
func (t *target) exists() bool { return t.file != nil }

// look opens the target for reading. A missing directory or file is not an error.
func (s *session) look(p agenttool.Path) (*target, error) {
	return s.reach(p, func(t *target) error { return t.open(os.O_RDONLY) })
}

// acquire opens the target for a change and locks it.
func (s *session) acquire(ctx context.Context, p agenttool.Path) (*target, error) {
	return s.reach(p, func(t *target) error { return t.lock(ctx, s.options.LockTimeout) })
}

// reach calls take with the target of p if its directory is there.
func (s *session) reach(p agenttool.Path, take func(*target) error) (*target, error) {
	t, err := s.place(p)
	if err == nil && t.dir != nil {
		err = take(t)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// place opens the directory of p. The returned target is never nil.
func (s *session) place(p agenttool.Path) (*target, error) {
	t := &target{path: p}
	if s.workspace.Private(p.Resolved) {
		return t, agenttool.Failure(agenttool.PermissionDenied, "private_path",
			p.Spelling+" is toolhost's own state: no call writes there")
	}
	var err error
	if t.secrets, err = s.workspace.Secrets(); err != nil {
		return t, err
	}
	dir, name, err := s.workspace.Parent(p, false)
	t.dir, t.name = dir, name
	if errors.Is(err, os.ErrNotExist) {
		t.dir, err = nil, nil
	}
	return t, ioFailure("open", p.Spelling, err)
}

// open opens the file, if it exists, with flags. It fails for other kinds of files without opening them: opening a
// device can have side effects.
func (t *target) open(flags int) error {
	st, err := t.dir.Lstat(t.name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return ioFailure("open", t.path.Spelling, err)
	}
	if err := t.regular(&st); err != nil {
		return err
	}
	f, err := t.dir.Open(t.name, flags, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err := t.secrets.File(t.path.Spelling, t.path.Resolved, f); err != nil {
			f.Close()
			return err
		}
	}
	if err != nil {
		return ioFailure("open", t.path.Spelling, err)
	}
	t.file = f
	if t.stat, err = stat(f); err != nil {
		return ioFailure("open", t.path.Spelling, err)
	}
	return t.regular(&t.stat)
}

// regular returns an error if the file is not a regular file.
func (t *target) regular(st *unix.Stat_t) error {
	what := "something else"
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return nil
	case unix.S_IFDIR:
		return isDirectory(t.path)
	case unix.S_IFLNK:
		return ioFailure("open", t.path.Spelling, unix.ELOOP)
	case unix.S_IFIFO:
		what = "a FIFO"
	case unix.S_IFSOCK:
		what = "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		what = "a device"
	}
	return agenttool.Failure(agenttool.InvalidArguments, "not_a_file",
		fmt.Sprintf("%s is %s, not a regular file: only regular files are written", t.path.Spelling, what))
}

// lock opens the file and locks it; it waits up to patience for another holder. A rename gives the name another file,
// so the lock counts only if the name still leads to the locked file.
func (t *target) lock(ctx context.Context, patience time.Duration) error {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const shortest, longest = 100 * time.Microsecond, 10 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		if err := t.open(os.O_RDWR); err != nil || t.file == nil {
			return err
		}
		free, err := tryLock(t.file)
		if err != nil {
			return ioFailure("lock", t.path.Spelling, err)
		}
		if free {
			t.looked = time.Now()
			if st, err := t.dir.Lstat(t.name); err == nil && st.Dev == t.stat.Dev && st.Ino == t.stat.Ino {
				t.stat = st
				return nil
			}
		}
		t.file.Close()
		t.file = nil
		if free { // the process that renamed the file is done
			wait = shortest
		}
		select {
		case <-time.After(wait):
		case <-patient.Done():
			return t.locked(ctx, patience)
		}
	}
}

// locked returns the error for a lock that could not be acquired.
func (t *target) locked(ctx context.Context, patience time.Duration) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return agenttool.Failure(agenttool.DependencyUnavailable, "file_locked", fmt.Sprintf(
		"%s is locked by another process, for more than %v: nothing was changed; try again later",
		t.path.Spelling, patience))
}

// tryLock locks f if it is free. On a file system without locks all files count as free: the content checks still
// apply.
func tryLock(f *os.File) (free bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS):
		return true, nil
	case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, unix.EINTR):
		return false, nil
	}
	return false, err
}

// stage returns the directory of the session for temporary files, "" if there is none.
func (o *Options) stage() string {
	if o.Stage == nil {
		return ""
	}
	return o.Stage()
}

// share returns the given part of the memory limit, but at most usual.
func (o *Options) share(of, usual int64) int64 {
	if o.Memory <= 0 {
		return usual
	}
	return min(usual, o.Memory/of)
}

// read returns the whole content, or errMoved if the file changed since it was opened.
func (t *target) read(limit int64) ([]byte, error) {
	if t.stat.Size > limit {
		return nil, tooLarge(t.path.Spelling, t.stat.Size, limit)
	}
	raw := make([]byte, t.stat.Size+1)
	n, err := t.file.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, ioFailure("read", t.path.Spelling, err)
	}
	if int64(n) != t.stat.Size {
		return nil, errMoved
	}
	return raw[:n:n], nil
}

func tooLarge(name string, size, limit int64) error {
	return agenttool.Failure(agenttool.InvalidArguments, "too_large", fmt.Sprintf(
		"%s would have to be held in memory with %s bytes: the limit is %d MiB; use the shell (sed, a script)",
		name, count.Thousands(size), limit>>20))
}

// errMoved means that another process changed the file between two checks. The change is retried from the start.
var errMoved = errors.New("the file changed while it was being changed")

// version returns the ledger's version of the file that has the name now, for files too large for a digest. It is
// empty, unlike any other version, if the file no longer exists.
func (t *target) version() string {
	st, err := t.dir.Lstat(t.name)
	if err != nil {
		return ""
	}
	return identify(&st).version()
}

// mode returns the permission bits of the file's mode, including set-id bits.
func (t *target) mode() uint32 { return uint32(t.stat.Mode) & 0o7777 }

// document reads the target. It fails with errMoved if the target changes meanwhile.
func (s *session) document(t *target) (*document, error) {
	d := &document{path: t.path, exists: t.exists(), limit: s.options.share(8, maxDocument)}
	d.form, d.found = inspect(nil, encoding.Binary)
	if !d.exists {
		return d, nil
	}
	raw, err := t.read(d.limit)
	if err != nil {
		return nil, err
	}
	d.raw, d.digest = raw, digestOf(raw)
	d.form, d.found = inspect(raw, encoding.Binary)
	if !d.form.binary {
		d.text, _ = d.found.Text(raw)
	}
	d.version = d.digest
	if len(raw) > digestLimit {
		d.version = t.version()
	}
	d.knowledge = s.options.Seen.Recall(t.path.Resolved, seen.Content{
		Version: d.version, Text: d.text, Terminator: d.form.terminator(), Lines: d.form.lines(),
	})
	return d, nil
}
