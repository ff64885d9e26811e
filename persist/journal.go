package persist

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"
)

// logFile is the part of a file that a journal needs.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	size() (int64, error)
	Truncate(size int64) error
	allocate(off, n int64) error // reserves space without changing the size; errNoAllocate
	Sync() error
	Close() error
}

// errNoAllocate means that this file system or this system cannot reserve space.
var errNoAllocate = errors.New("space cannot be set aside here")

// journal appends lines to a file that only it writes. Its fields change only after a successful write.
type journal struct {
	f        logFile
	chain    chain
	first    int64 // sequence number of the line before the first: more than 0 in a log that continues another one
	end      int64 // after the last whole line
	reserved int64 // space is reserved up to here; 0: never requested
	noSpace  bool  // errNoAllocate was seen
	torn     bool  // a failed write could not be undone yet
	marks    marks
	buf      []byte
}

// append writes one line for each event, with one write, and returns the sequence number of the first.
func (j *journal) append(events [][]byte) (first int64, err error) {
	if j.torn {
		if err := j.rollback(); err != nil {
			return 0, err
		}
	}
	next, b := j.chain, j.buf[:0]
	for _, e := range events {
		b = next.append(b, e)
	}
	if cap(b) <= 1<<20 { // the buffer of a rare large group is released
		j.buf = b
	}
	if err := j.makeRoom(int64(len(b))); err != nil {
		return 0, err
	}
	if _, err := j.f.WriteAt(b, j.end); err != nil {
		j.torn = true
		return 0, errors.Join(err, j.rollback())
	}
	first = j.chain.seq + 1
	j.marks.add(first, j.end)
	j.chain, j.end = next, j.end+int64(len(b))
	j.topUp()
	return first, nil
}

// rollback removes the remains of a failed write. An unchanged file is not truncated, because that would also release
// the reserved space.
func (j *journal) rollback() error {
	size, err := j.f.size()
	if err == nil && size != j.end {
		if err = j.f.Truncate(j.end); err == nil && j.reserved > 0 {
			j.reserved = j.end
			j.topUp()
		}
	}
	if err != nil {
		return fmt.Errorf("take back an unfinished write: %w", err)
	}
	j.torn = false
	return nil
}

const (
	reserveMin  = 1 << 20 // bytes that Reserve guarantees
	reserveStep = 2 << 20 // bytes that are requested at a time, to request rarely
)

// reserve reserves at least reserveMin bytes after the end.
func (j *journal) reserve() error {
	if j.noSpace || j.reserved-j.end >= reserveMin {
		return nil
	}
	var err error
	for _, n := range [...]int64{reserveStep, reserveMin} {
		if err = j.allocate(n); err == nil {
			return nil
		}
	}
	return fmt.Errorf("set %d bytes aside: %w", reserveMin, err)
}

// touch truncates the file at the end of the last line, and reserves the released space again.
func (j *journal) touch() error {
	if err := j.f.Truncate(j.end); err != nil {
		return err
	}
	j.reserved = min(j.reserved, j.end)
	j.topUp()
	return nil
}

// topUp reserves again the space that records used. A failure shows at the next reserve; until then the records of
// running calls use the remaining space.
func (j *journal) topUp() {
	if j.reserved > 0 {
		_ = j.reserve()
	}
}

// makeRoom makes a group that is larger than the reserved space fail before part of it is written: undoing the write
// would also release the space.
func (j *journal) makeRoom(n int64) error {
	if j.noSpace || j.reserved == 0 || j.end+n <= j.reserved {
		return nil
	}
	return j.allocate(n)
}

func (j *journal) allocate(n int64) error {
	err := j.f.allocate(j.end, n)
	if errors.Is(err, errNoAllocate) {
		j.noSpace = true
		return nil
	}
	if err == nil {
		j.reserved = max(j.reserved, j.end+n)
	}
	return err
}

// close releases the reserved space, syncs and closes the file, which also releases its lock.
func (j *journal) close() error {
	var errs []error
	if j.torn {
		errs = append(errs, j.rollback())
	}
	if j.reserved > j.end {
		errs = append(errs, j.f.Truncate(j.end))
	}
	return errors.Join(append(errs, j.f.Sync(), j.f.Close())...)
}

// diskLog is a logFile on disk.
type diskLog struct{ *os.File }

func (l diskLog) stat() (st unix.Stat_t, err error) {
	err = unix.Fstat(int(l.Fd()), &st)
	return st, err
}

// Sync is [os.File.Sync] where the file system can.
func (l diskLog) Sync() error { return filesystem.Sync(l.File) }

func (l diskLog) size() (int64, error) {
	st, err := l.stat()
	return st.Size, err
}

// allocate reserves the blocks of f from off to off+n and leaves its size unchanged.
func (l diskLog) allocate(off, n int64) error {
	for {
		err := unix.Fallocate(int(l.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			return errNoAllocate
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
