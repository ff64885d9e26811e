package persist

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"toolhost/agenttool"
)

// Options says where and how a session is kept. Only Dir has no default, and an ephemeral session needs none.
type Options struct {
	Dir          string              // the directory of all sessions, made when it is missing
	ID           agenttool.SessionID // ASCII letters, digits, _ and -, at most 128; empty: a fresh one
	IDs          *agenttool.IDs      // makes event ids; nil: a generator of the store's own
	Now          func() time.Time    // nil: time.Now
	Meta         json.RawMessage     // JSON object for the data of the opened record; empty: session_id alone
	PayloadLimit int64               // bytes of one payload; 0: 1 GiB
	SessionLimit int64               // bytes of all payloads of the session on disk; 0: 4 GiB
	Ephemeral    bool                // keep all in memory and touch no disk
}

const (
	defaultPayloadLimit = 1 << 30
	defaultSessionLimit = 4 << 30
)

func (o Options) withDefaults() Options {
	if o.IDs == nil {
		o.IDs = new(agenttool.IDs)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ID == "" {
		o.ID = agenttool.SessionID(o.IDs.New("ses_", o.Now()))
	}
	if o.PayloadLimit <= 0 {
		o.PayloadLimit = defaultPayloadLimit
	}
	if o.SessionLimit <= 0 {
		o.SessionLimit = defaultSessionLimit
	}
	return o
}

// Store is one session. It is safe for use by several goroutines.
type Store struct {
	o    Options
	kept keeper
}

// keeper is where a session lives: a directory or memory. A method that is called after close fails with ErrClosed.
type keeper interface {
	submit(events [][]byte, told func(first int64)) *Pending
	reserve(ctx context.Context) error
	flush(ctx context.Context) error // waits for the disk
	stalled() bool
	touch()
	since(seq int64, limit int) (entries []Entry, more bool, err error)
	create(file string) (sink, error)
	open(file string) (source, error)
	close() error
}

// New returns the session that o describes. It does no IO: the directory is made, and the lock taken, by the first
// Append, Reserve or Payload. If the session is there already, they go on with it as [Resume] does.
func New(o Options) *Store {
	o = o.withDefaults()
	if o.Ephemeral {
		return &Store{o: o, kept: newMemory(o)}
	}
	return &Store{o: o, kept: newQueued(newDisk(o))}
}

// Resume opens the session that o describes for more records, or makes it if it is not there. It takes the lock at
// once and does not wait for it. What a killed process left of a line is dropped. The time that takes does not depend
// on the length of the journal.
//
// It fails with [ErrLocked] when another process writes the session, with [ErrDamaged] when the last line is not a
// record, and otherwise as Append does, ErrPending included. After a failure nothing is held.
func Resume(o Options) (*Store, error) {
	o = o.withDefaults()
	if o.Ephemeral {
		return New(o), nil
	}
	d := newDisk(o)
	if _, err := within(writeLimit, func() (*disk, error) { return d, d.attach() }, func(d *disk) { _ = d.close() }); err != nil {
		return nil, err
	}
	return &Store{o: o, kept: newQueued(d)}, nil
}

// ID returns the session's identifier.
func (s *Store) ID() agenttool.SessionID { return s.o.ID }

// Path returns the session's directory, which need not exist yet; empty for an ephemeral session.
func (s *Store) Path() string {
	if s.o.Ephemeral {
		return ""
	}
	return filepath.Join(s.o.Dir, string(s.o.ID))
}

// Append records events, each one encoded agenttool.Event, in one write and returns the sequence number of the first.
// Either all are recorded or none.
//
// An error of class dependency_unavailable, code journal_unavailable, says that the disk refused and what to free. The
// events are not tried again; they are counted in a gap record before the next events that can be written. The first
// Append of a store can also fail as Resume does. [ErrPending], code journal_stalled, says that the disk does not answer: the
// events are kept for when it does, up to some thousand, and are counted as lost beyond that. Other errors:
// result_too_large for an event that does not fit a line, execution_failed for what is not a JSON object; neither is counted.
func (s *Store) Append(events ...[]byte) (first int64, err error) {
	if len(events) == 0 {
		return 0, nil
	}
	return s.Submit(events, nil).Wait(writeLimit)
}

// Submit is Append for a caller that waits itself: it queues events and returns. Once they are written told hears the number of
// the first, before Wait returns. Calls of told come one after the other, in the order of the numbers. If the queue is full
// Submit waits for room, at most a second; a disk that stalls is not waited for.
func (s *Store) Submit(events [][]byte, told func(first int64)) *Pending {
	events, err := oneLineEach(events)
	if err != nil {
		return failed(err)
	}
	return s.kept.submit(events, told)
}

// failed is a step that was not queued.
func failed(err error) *Pending {
	p := &Pending{done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

// Touch queues a change of the log file that changes nothing: a disk that stalls is [Store.Stalled] soon after.
func (s *Store) Touch() { s.kept.touch() }

// Stalled reports whether the disk has not answered for a moment, so that waiting for it makes no sense.
func (s *Store) Stalled() bool { return s.kept.stalled() }

// Reserve makes sure that the journal exists, works, holds every event that was submitted before, and has at least 1 MiB of
// space behind its end, so that a call that starts now can be recorded to its end even if the disk fills up. Where the file
// system cannot set space aside, it is not. It waits for a disk that stalls until ctx ends, or ten seconds if ctx has no
// deadline. The error is that of Append.
func (s *Store) Reserve(ctx context.Context) error { return s.kept.reserve(ctx) }

// Sync waits until every record that was appended before is on the disk, as long as Reserve. Without it they are there within a
// second. An ephemeral session has no disk, and nothing to wait for. The error is that of Append.
func (s *Store) Sync(ctx context.Context) error { return s.kept.flush(ctx) }

const (
	sinceDefault = 1000
	sinceBytes   = 8 << 20
)

// Since returns the records after seq in order: at most limit (0: 1000), and at most about 8 MiB. More says that
// there are others behind them. An ephemeral session that no longer has the next one fails with class
// invalid_arguments, code events_gone, and says from where it can go on.
func (s *Store) Since(seq int64, limit int) (entries []Entry, more bool, err error) {
	if limit <= 0 {
		limit = sinceDefault
	}
	return s.kept.since(max(seq, 0), limit)
}

// Close writes the closing record, gives back the space that was set aside, syncs, and lets go of the lock. It does
// nothing to a session that has no record of this store. A second Close does nothing. A disk that stalls is waited for a second
// at most; then the error is [ErrPending].
func (s *Store) Close() error { return s.kept.close() }
