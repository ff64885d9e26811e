package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
)

// disk stores a session in its directory.
type disk struct {
	o      Options
	record recorder

	mu sync.Mutex
	files
	room   *atomic.Int64 // bytes that payloads may still take; nil until the first
	opened bool          // this store has written its opened record
	lost   loss
	closed bool
	sync   syncing

	at     standing
	before []files // earlier parts of this session: their logs stay locked, and their payloads readable
	unsaid error   // that the log was broken, for the next call that changes something
}

// files are those of an attached session.
type files struct {
	session *os.Root // nil until attached
	log     *journal // nil until attached
	refs    *os.File // nil until the first payload was closed
}

func newDisk(o Options) *disk { return &disk{o: o, record: recorder{o}} }

// attach opens the session's directory and journal, locks it, and removes an incomplete last line. After a success it
// does nothing.
func (d *disk) attach() (err error) {
	if d.closed {
		return ErrClosed
	}
	if d.log != nil {
		return nil
	}
	session, log, err := openLocked(d.o.Dir, d.o.ID)
	if err != nil {
		return unavailable(d.o.Dir, err)
	}
	err = checkFormat(log)
	var j *journal
	if err == nil {
		j, err = resumeJournal(log)
	}
	if err != nil {
		session.Close()
		log.Close()
		return unavailable(d.o.Dir, err)
	}
	if _, _, ok := continued(d.o.Dir, d.o.ID); ok {
		session.Close()
		log.Close()
		return ErrContinued
	}
	d.session, d.log = session, j
	d.stands(filepath.Join(d.o.Dir, string(d.o.ID), LogName))
	return nil
}

// resumeJournal continues at the end of the file.
func resumeJournal(f logFile) (*journal, error) {
	size, err := f.size()
	if err != nil {
		return nil, err
	}
	t, err := readTail(f, size)
	if err != nil {
		return nil, err
	}
	if t.torn > 0 {
		if err := f.Truncate(t.end); err != nil {
			return nil, err
		}
	}
	return &journal{f: f, chain: t.chain, end: t.end}, nil
}

func (d *disk) append(events [][]byte) (first int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if first, err = d.write(events); err != nil && !errors.Is(err, ErrClosed) {
		d.lost.add(len(events), d.o.Now(), rootCause(err))
	}
	return first, err
}

// write writes events, after any due records of the session itself.
func (d *disk) write(events [][]byte) (first int64, err error) {
	if err := d.attach(); err != nil {
		return 0, err
	}
	if err := d.keepWhole(false); err != nil {
		return 0, err
	}
	preface, err := d.preface()
	if err != nil {
		return 0, err
	}
	all := events
	if len(preface) > 0 {
		all = append(preface, events...)
	}
	if len(all) == 0 {
		return 0, nil
	}
	first, err = d.log.append(all)
	d.wrote()
	if err != nil {
		return 0, unavailable(d.o.Dir, err)
	}
	d.opened, d.lost = true, loss{}
	d.syncSoon()
	return first + int64(len(preface)), nil
}

// preface returns the records that must precede any other.
func (d *disk) preface() (records [][]byte, err error) {
	if !d.opened {
		r, err := d.record.opened(nil)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	if d.lost.Events > 0 {
		r, err := d.record.gap(d.lost)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

func (d *disk) reserve() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.write(nil); err != nil {
		return err
	}
	if d.sync.err != nil { // do not record calls whose records cannot reach the disk
		return d.sync.err
	}
	if d.log.torn {
		err := d.log.rollback()
		d.wrote()
		if err != nil {
			return unavailable(d.o.Dir, err)
		}
	}
	if err := d.keepWhole(true); err != nil {
		return err
	}
	if err := d.unsaid; err != nil {
		d.unsaid = nil
		return err
	}
	if d.log.noSpace || d.log.reserved-d.log.end >= reserveMin {
		return nil
	}
	err := d.log.reserve()
	d.wrote()
	if err != nil {
		return unavailable(d.o.Dir, err)
	}
	return nil
}

// touch truncates the log file at its end.
func (d *disk) touch() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.log == nil {
		return nil
	}
	if err := d.keepWhole(false); err != nil {
		return err
	}
	defer d.wrote()
	return d.log.touch()
}

func (d *disk) close() error {
	d.sync.disk.Lock()
	defer d.sync.disk.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.log == nil {
		d.closed = true
		return nil
	}
	err := syncPayloads(d.roots(), d.sync.payloads)
	err = errors.Join(err, d.finish(err == nil))
	d.closed = true
	if d.refs != nil {
		err = errors.Join(err, d.refs.Close())
	}
	err = errors.Join(err, d.log.close(), d.session.Close())
	for _, part := range d.before {
		_, _ = part.log.f.Close(), part.session.Close()
	}
	if err != nil {
		return unavailable(d.o.Dir, err)
	}
	return nil
}

// finish writes the closing record, after a gap record if one is due.
func (d *disk) finish(payloadsSynced bool) error {
	if !d.opened && d.lost.Events == 0 {
		return nil
	}
	if _, err := d.write(nil); err != nil {
		return err
	}
	last, err := d.record.closed(d.log.chain, payloadsSynced)
	if err != nil {
		return err
	}
	_, err = d.write([][]byte{last})
	return err
}

// rootCause returns the errno of err if there is one.
func rootCause(err error) error {
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return errno
	}
	if e, ok := errors.AsType[*agenttool.Error](err); ok {
		return errors.New(e.Code)
	}
	return err
}

func (d *disk) since(seq int64, limit int) (entries []Entry, more bool, err error) {
	d.mu.Lock()
	if d.closed || d.log == nil {
		defer d.mu.Unlock()
		return nil, false, closedError(d.closed)
	}
	if gone := d.log.first; seq < gone {
		defer d.mu.Unlock()
		return nil, false, agenttool.Failure(agenttool.InvalidArguments, "events_gone", fmt.Sprintf(
			"the log with the events up to %d was broken, and the session goes on in another one; ask for those after %d", gone, gone))
	}
	start, end, f := d.log.marks.before(seq+1), d.log.end, d.log.f
	d.mu.Unlock()

	// Bytes before end never change, so reading needs no lock.
	size := 0
	for e, err := range Read(io.NewSectionReader(f, start, end-start)) {
		switch {
		case errors.Is(err, fs.ErrClosed):
			return nil, false, ErrClosed
		case err != nil:
			return nil, false, fmt.Errorf("read %s: %w", LogName, err)
		case e.Seq <= seq:
			continue
		case len(entries) == limit || len(entries) > 0 && size+len(e.Event) > sinceBytes:
			return entries, true, nil
		}
		size += len(e.Event)
		entries = append(entries, e)
	}
	return entries, false, nil
}

// closedError returns ErrClosed if closed, else nil.
func closedError(closed bool) error {
	if closed {
		return ErrClosed
	}
	return nil
}

// syncInterval is the longest time until a record is synced: a power failure loses at most that.
const syncInterval = time.Second

// syncing is the state of syncing the journal and the payloads.
type syncing struct {
	disk sync.Mutex // held during a sync; held together with the session's own mutex only briefly

	// The session's mutex guards these.
	due      bool     // a timer for a sync runs
	end      int64    // the journal is synced up to here
	names    bool     // the names of its directories are synced, too
	payloads []string // files of payloads that were closed and are not synced
	err      error    // of the last sync
}

// syncSoon makes sure that the current records and payloads are synced within syncInterval. The caller holds d.mu.
func (d *disk) syncSoon() {
	if d.sync.due {
		return
	}
	d.sync.due = true
	time.AfterFunc(syncInterval, func() { _ = d.flush() }) // an error shows at the next Reserve or Sync
}

// flush waits until every earlier record is on disk, and before that the payloads which these records refer to. Concurrent callers
// share one sync.
func (d *disk) flush() error {
	d.sync.disk.Lock()
	defer d.sync.disk.Unlock()
	d.mu.Lock()
	d.sync.due = false
	if d.closed || d.log == nil || d.sync.end == d.log.end && len(d.sync.payloads) == 0 {
		defer d.mu.Unlock()
		return d.sync.err
	}
	end, log, names, payloads, roots := d.log.end, d.log, d.sync.names, d.sync.payloads, d.roots()
	d.sync.payloads, d.sync.names = nil, true // until another name is made
	d.mu.Unlock()

	err := syncPayloads(roots, payloads)
	if err == nil {
		payloads, err = nil, log.f.Sync()
	}
	if err == nil && !names {
		err = syncNames(roots[0], d.o.Dir)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sync.err = err; err != nil {
		d.sync.payloads = append(payloads, d.sync.payloads...)
		d.sync.names = false
		d.sync.err = unavailable(d.o.Dir, err)
		return d.sync.err
	}
	if d.log == log { // else the session went on in another one meanwhile
		d.sync.end = end
	}
	return nil
}

// syncedTogether is how many payloads are open at a time while they are synced.
const syncedTogether = 64

// roots returns the directories of the session's parts, the current one first.
func (d *disk) roots() []*os.Root {
	roots := []*os.Root{d.session}
	for _, part := range slices.Backward(d.before) {
		roots = append(roots, part.session)
	}
	return roots
}

// openResult opens the file of a payload in the first directory that has it.
func openResult(roots []*os.Root, file string) (f *os.File, err error) {
	for _, session := range roots {
		if f, err = openRegular(session.OpenFile, resultsDir+"/"+file, os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}

// syncPayloads syncs files of payloads and their names. One that was removed meanwhile is none.
func syncPayloads(roots []*os.Root, files []string) error {
	for part := range slices.Chunk(files, syncedTogether) {
		if err := syncTogether(roots, part); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	for _, session := range roots {
		if err := syncRoots(session, resultsDir); err != nil {
			return err
		}
	}
	return nil
}

// syncTogether starts to write all files before it waits for the first, so that one commit of the file system does for all of them.
func syncTogether(roots []*os.Root, files []string) error {
	var open []*os.File
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	for _, file := range files {
		f, err := openResult(roots, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		open = append(open, f)
		startWriting(f)
	}
	for _, f := range open {
		if err := filesystem.Sync(f); err != nil {
			return err
		}
	}
	return nil
}

// syncNames syncs the names of the journal and of its directory.
func syncNames(session *os.Root, sessions string) error {
	all, err := os.Open(sessions)
	if err != nil {
		return err
	}
	defer all.Close()
	return errors.Join(syncRoots(session, "."), filesystem.Sync(all))
}

// startWriting has the kernel begin to write f to the disk. It waits for nothing.
func startWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // the sync that follows does it all
}
