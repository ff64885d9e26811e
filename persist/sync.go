package persist

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// syncInterval is how long a record may be missing on the disk: what a power cut costs at most.
const syncInterval = time.Second

// syncing is how far the journal is on the disk.
type syncing struct {
	disk sync.Mutex // held while the disk works, never together with the session's own for long

	// The session's mutex guards these.
	due   bool  // a timer runs that will sync
	end   int64 // the journal is on the disk up to here
	names bool  // the directories that lead to it are, too
	err   error // of the last sync that failed; nil after one that did not
}

// syncSoon sees to it that the records of now are on the disk within syncInterval. The caller holds d.mu.
func (d *disk) syncSoon() {
	if d.sync.due {
		return
	}
	d.sync.due = true
	time.AfterFunc(syncInterval, func() { _ = d.flush() }) // its error shows at the next Reserve or Sync
}

// flush waits until every record that was appended before is on the disk. Callers that come together share one sync.
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

// syncNames brings the name of the journal and of its directory to the disk.
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

// syncDir syncs a directory, where its file system can.
func syncDir(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
