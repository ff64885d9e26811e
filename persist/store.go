package persist

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist/redact"
)

// Options configure a session. Only Dir has no default, and an ephemeral session needs none.
type Options struct {
	Dir          string              // the directory of all sessions, created if missing
	ID           agenttool.SessionID // ASCII letters, digits, _ and -, at most 128; empty: a fresh one
	IDs          *agenttool.IDs      // generates event ids; nil: the store's own generator
	Now          func() time.Time    // nil: time.Now
	Meta         json.RawMessage     // JSON object for the data of the opened record; empty: only session_id
	PayloadLimit int64               // bytes of one payload; 0: 1 GiB
	SessionLimit int64               // bytes of all payloads of the session on disk; 0: 4 GiB
	Ephemeral    bool                // store everything in memory and do not touch the disk
	Redactor     *redact.Redactor    // of records and payloads; nil: a fresh one, without a key that lasts

	limits limits // zero: stallAfter and writeLimit
	about  *atomic.Pointer[func() json.RawMessage]
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
	if o.limits == (limits{}) {
		o.limits = limits{stallAfter, writeLimit}
	}
	if o.PayloadLimit <= 0 {
		o.PayloadLimit = defaultPayloadLimit
	}
	if o.Redactor == nil {
		o.Redactor, _ = redact.New(redact.Options{}) // without patterns it cannot fail
	}
	if o.about == nil {
		o.about = new(atomic.Pointer[func() json.RawMessage])
	}
	if o.SessionLimit <= 0 {
		o.SessionLimit = defaultSessionLimit
	}
	return o
}

// line is [Store.Line].
func (o Options) line(event []byte) Line {
	l := Line{event: event}
	if len(event) > maxEvent {
		l.err = agenttool.Failure(agenttool.ResultTooLarge, "event_too_large",
			fmt.Sprintf("an event of %d bytes does not fit the session log, whose limit is %d; "+
				"store its data as a payload and refer to it", len(event), maxEvent))
		return l
	}
	if bytes.IndexByte(event, '\n') >= 0 {
		var flat bytes.Buffer
		if json.Compact(&flat, event) == nil {
			l.event = flat.Bytes()
		}
	}
	flat, err := l.event, error(nil)
	if l.event, l.found, err = o.Redactor.Record(flat); err != nil {
		l.event = withheld(flat)
	}
	if b := l.event; len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' || bytes.IndexByte(b, '\n') >= 0 {
		l.event, l.err = nil, agenttool.Failure(agenttool.ExecutionFailed, "invalid_event",
			"an event is not a JSON object and was not recorded; this is a bug in toolhost")
	}
	return l
}

// Store is one session. It is safe for use by several goroutines.
type Store struct {
	o    Options
	kept keeper

	live     sync.Map // file name → *payload, of those that are being written
	redacted sync.Map // file name → true, of those that had secrets
}

// ID returns the session's identifier.
func (s *Store) ID() agenttool.SessionID { return s.o.ID }

// Describe adds the members of the JSON object that about returns to the data of the opened record. It is called for each first record.
func (s *Store) Describe(about func() json.RawMessage) { s.o.about.Store(&about) }

// Redactor returns the redactor of the session's records and payloads.
func (s *Store) Redactor() *redact.Redactor { return s.o.Redactor }

// Path returns the session's directory, which need not exist yet; empty for an ephemeral session.
func (s *Store) Path() string {
	if s.o.Ephemeral {
		return ""
	}
	return filepath.Join(s.o.Dir, string(s.o.ID))
}

// Append records events, each an encoded agenttool.Event, in one write and returns the sequence number of the first.
// It records all of them or none.
//
// An error of class dependency_unavailable, code journal_unavailable, means that the disk failed; it names the
// remedy. The events are not retried, but counted in a gap record before the next events that can be written. The
// first Append of a store can also fail as Resume does. [ErrPending], code journal_stalled, means that the disk does
// not answer: up to some thousand events are kept until it does, and further ones are counted as lost. Other errors:
// result_too_large for an event that does not fit a line, execution_failed for an event that is not a JSON object;
// neither is counted.
func (s *Store) Append(events ...[]byte) (first int64, err error) {
	if len(events) == 0 {
		return 0, nil
	}
	lines := make([]Line, len(events))
	for i, e := range events {
		lines[i] = s.Line(e)
	}
	return s.Submit(lines, nil).Wait(s.o.limits.write)
}

// Submit is Append for a caller that waits later: it queues events, made by [Store.Line], and returns. Once they are written it calls
// written with the sequence number of the first, before Wait returns. Calls of written come one after the other, in
// sequence order. If the queue is full Submit waits for room, at most a second; it does not wait for a stalled disk.
func (s *Store) Submit(lines []Line, written func(first int64)) *Pending {
	events, err := checked(lines)
	if err != nil {
		return failed(err)
	}
	return s.kept.submit(events, written)
}

// Line prepares an encoded event for Submit. It compacts an event that spans lines, as input that is kept byte for byte
// may do, and relies on the encoder for valid JSON otherwise: parsing each event again would cost more than writing it.
// An event that cannot be searched for secrets is withheld: its envelope remains.
func (s *Store) Line(event []byte) Line { return s.o.line(event) }

// failed returns a finished step with an error.
func failed(err error) *Pending {
	p := &Pending{done: make(chan struct{}), err: err}
	close(p.done)
	return p
}

// Touch queues an empty change of the log file, so that a stalled disk soon shows in [Store.Stalled].
func (s *Store) Touch() { s.kept.touch() }

// Stalled reports whether the disk does not answer at the moment, so that waiting for it is pointless.
func (s *Store) Stalled() bool { return s.kept.stalled() }

// Reserve makes sure that the journal exists, works, contains every event that was submitted before, and has at least
// 1 MiB of reserved space, so that a call that starts now can be recorded completely even if the disk fills up. Some
// file systems cannot reserve space; then it is skipped. It waits for a stalled disk until ctx ends, or ten seconds
// if ctx has no deadline. The error is that of Append.
func (s *Store) Reserve(ctx context.Context) error { return s.kept.reserve(ctx) }

// Sync waits until every earlier record is on disk, as long as Reserve would. Without it they are on disk within a
// second. An ephemeral session has no disk, and Sync returns at once. The error is that of Append.
func (s *Store) Sync(ctx context.Context) error { return s.kept.flush(ctx) }

const (
	sinceDefault = 1000
	sinceBytes   = 8 << 20
)

// Since returns the records after seq in order: at most limit (0: 1000), and at most about 8 MiB. more reports
// whether others follow. An ephemeral session that has dropped the next one fails with class invalid_arguments, code
// events_gone, and names the first available number.
func (s *Store) Since(seq int64, limit int) (entries []Entry, more bool, err error) {
	if limit <= 0 {
		limit = sinceDefault
	}
	return s.kept.since(max(seq, 0), limit)
}

// Close writes the closing record, releases the reserved space, syncs, and releases the lock. It does nothing to a
// session without a record of this store. A second Close does nothing. It waits at most a second for a stalled disk;
// then the error is [ErrPending].
func (s *Store) Close() error { return s.kept.close() }

// Settle waits for the disk after a Close that failed with [ErrPending], at most limit. It returns the error of closing: nil if all records
// are on disk, and ErrPending if the disk has still not answered.
func (s *Store) Settle(limit time.Duration) error { return s.kept.settle(limit) }
