package persist

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// syncInterval is the longest time until a record is synced: a power failure loses at most that.
const syncInterval = time.Second

// syncing is the state of syncing the journal.
type syncing struct {
	disk sync.Mutex // held during a sync; held together with the session's own mutex only briefly

	// The session's mutex guards these.
	due   bool  // a timer for a sync runs
	end   int64 // the journal is synced up to here
	names bool  // the names of its directories are synced, too
	err   error // of the last sync
}

// syncSoon makes sure that the current records are synced within syncInterval. The caller holds d.mu.
func (d *disk) syncSoon() {
	if d.sync.due {
		return
	}
	d.sync.due = true
	time.AfterFunc(syncInterval, func() { _ = d.flush() }) // an error shows at the next Reserve or Sync
}

// flush waits until every earlier record is on disk. Concurrent callers share one sync.
func (d *disk) flush() error {
	d.sync.disk.Lock()
	defer d.sync.disk.Unlock()
	d.mu.Lock()
	d.sync.due = false
	if d.closed || d.log == nil || d.sync.end == d.log.end {
		defer d.mu.Unlock()
		return d.sync.err
	}
	end, f, names := d.log.end, d.log.f, d.sync.names
	d.mu.Unlock()

	err := f.Sync()
	if err == nil && !names {
		err = d.syncNames()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sync.err = err; err != nil {
		d.sync.err = unavailable(d.o.Dir, err)
		return d.sync.err
	}
	d.sync.end, d.sync.names = end, true
	return nil
}

// syncNames syncs the names of the journal and of its directory.
func (d *disk) syncNames() error {
	session, err := d.session.Open(".")
	if err != nil {
		return err
	}
	defer session.Close()
	all, err := os.Open(d.o.Dir)
	if err != nil {
		return err
	}
	defer all.Close()
	return errors.Join(syncDir(session), syncDir(all))
}

// syncDir syncs a directory, if its file system can.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
