package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Limits of an ephemeral session.
const (
	memoryEvents       = 10_000
	memoryEventBytes   = 64 << 20
	memoryPayloadBytes = 64 << 20
)

const memoryFull noRoom = "this session is kept in memory and holds 64 MiB of output"

// memory stores an ephemeral session: the newest events, and payloads until the room is used up.
type memory struct {
	o       Options
	record  recorder
	done    chan struct{} // always closed: submitted events are stored at once
	telling sync.Mutex    // orders appends and the calls of written

	mu     sync.Mutex
	closed bool
	history
	payloadStore
}

// history holds the newest events.
type history struct {
	last    int64   // sequence number of the last event; the opened record has 1
	entries []Entry // the newest
	bytes   int     // of entries
}

// payloadStore holds payloads.
type payloadStore struct {
	payloads map[string]*memoryPayload
	room     int64 // for more
}

func newMemory(o Options) *memory {
	m := &memory{o: o, record: recorder{o}, payloadStore: payloadStore{payloads: map[string]*memoryPayload{}, room: memoryPayloadBytes}, done: make(chan struct{})}
	close(m.done)
	return m
}

// submit stores events at once.
func (m *memory) submit(events [][]byte, written func(first int64)) *Pending {
	m.telling.Lock()
	defer m.telling.Unlock()
	first, err := m.append(events)
	if err == nil && written != nil {
		written(first)
	}
	return &Pending{done: m.done, first: first, err: err}
}

func (m *memory) append(events [][]byte) (first int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	if m.last == 0 {
		opened, err := m.record.opened(nil)
		if err != nil {
			return 0, err
		}
		m.keep(opened)
	}
	first = m.last + 1
	for _, e := range events {
		m.keep(bytes.Clone(e))
	}
	return first, nil
}

func (m *memory) flush(context.Context) error { return nil }

func (m *memory) stalled() bool { return false }

func (m *memory) stuck(time.Duration) bool { return false }

func (m *memory) touch() {}

// keep adds one event and drops the oldest ones beyond the limits.
func (m *history) keep(event json.RawMessage) {
	m.last++
	m.entries = append(m.entries, Entry{Seq: m.last, Event: event})
	m.bytes += len(event)
	for len(m.entries) > memoryEvents || m.bytes > memoryEventBytes && len(m.entries) > 1 {
		m.bytes -= len(m.entries[0].Event)
		m.entries[0] = Entry{}
		m.entries = m.entries[1:]
	}
}

func (m *memory) reserve(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return closedError(m.closed)
}

func (m *memory) since(seq int64, limit int) (entries []Entry, more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.entries) == 0 {
		return nil, false, closedError(m.closed)
	}
	oldest := m.entries[0].Seq
	if seq < oldest-1 {
		return nil, false, agenttool.Failure(agenttool.InvalidArguments, "events_gone", fmt.Sprintf(
			"this session is kept in memory and has forgotten the events up to %d; ask for those after %d",
			oldest-1, oldest-1))
	}
	rest := m.entries[min(seq-oldest+1, int64(len(m.entries))):]
	size := 0
	for i, e := range rest {
		if size += len(e.Event); i == limit || i > 0 && size > sinceBytes {
			return entries, true, nil
		}
		entries = append(entries, e)
	}
	return entries, false, nil
}

func (m *memory) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.entries, m.payloads = true, nil, nil
	return nil
}

// memoryPayload is a payload of an ephemeral session. The memory's lock guards it.
type memoryPayload struct {
	of  *memory
	b   []byte
	ref agenttool.Ref // empty while it is written
}

func (m *memory) create(file string) (sink, error) {
	if _, err := m.append(nil); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil, ErrClosed
	case m.payloads[file] != nil:
		return nil, payloadExists(file)
	case m.room == 0:
		return nil, sessionFull(memoryFull)
	}
	p := &memoryPayload{of: m}
	m.payloads[file] = p
	return p, nil
}

func (p *memoryPayload) Write(b []byte) (int, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	n := min(int64(len(b)), p.of.room)
	p.of.room -= n
	p.b = append(p.b, b[:n]...)
	if int(n) < len(b) {
		return int(n), memoryFull
	}
	return int(n), nil
}

func (p *memoryPayload) ReadAt(b []byte, off int64) (int, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.closed {
		return 0, ErrClosed
	}
	n := copy(b, p.b[min(off, int64(len(p.b))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *memoryPayload) finish(ref agenttool.Ref) error {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.ref, p.b = ref, bytes.Clone(p.b) // drop the spare capacity
	return nil
}

func (m *memory) open(file string) (source, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return source{}, ErrClosed
	}
	p := m.payloads[file]
	if p == nil {
		return source{}, fs.ErrNotExist
	}
	// Existing bytes never change, so they can be read while others are added.
	r := bytes.NewReader(p.b)
	return source{r: r, close: func() error { return nil }, size: r.Size(), ref: p.ref}, nil
}

func (*memory) settle(time.Duration) error { return nil }
