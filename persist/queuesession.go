package persist

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// queuedSession is a session on a disk that may stall at any step. All disk access runs in a queue, or in a goroutine
// outside of it, so that callers can limit their wait.
type queuedSession struct {
	*disk
	line *appender
	last atomic.Pointer[Pending] // the closing step
}

func newQueued(d *disk, l limits) *queuedSession {
	return &queuedSession{disk: d, line: &appender{limits: l}}
}

func (q *queuedSession) submit(events [][]byte, written func(first int64)) *Pending {
	p := &Pending{do: q.write, events: events, written: written}
	for _, e := range events {
		p.size += len(e)
	}
	if err := q.line.put(p); err != nil {
		if errors.Is(err, ErrPending) {
			q.lose(len(events))
		}
		return failed(err)
	}
	return p
}

// write runs the step of a group of events.
func (q *queuedSession) write(p *Pending) {
	if p.first, p.err = q.append(p.events); p.err == nil && p.written != nil {
		p.written(p.first)
	}
}

// lose counts events that did not fit into the queue. The count is recorded after the queued events.
func (q *queuedSession) lose(events int) {
	at := q.o.Now()
	q.line.mu.Lock()
	defer q.line.mu.Unlock()
	if n := len(q.line.tasks); n > 0 && q.line.tasks[n-1].lost > 0 {
		q.line.tasks[n-1].lost += events
		return
	}
	q.line.push(&Pending{done: make(chan struct{}), lost: events, do: func(p *Pending) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.disk.lost.add(p.lost, at, ErrPending)
	}})
}

func (q *queuedSession) stalled() bool { return q.stuck(q.line.limits.stall) }

func (q *queuedSession) stuck(limit time.Duration) bool {
	q.line.mu.Lock()
	defer q.line.mu.Unlock()
	return q.line.stuck(limit)
}

func (q *queuedSession) touch() { q.step(q.disk.touch) }

// step queues a function whose only result is an error.
func (q *queuedSession) step(do func() error) *Pending {
	p := &Pending{do: func(p *Pending) { p.err = do() }}
	if err := q.line.put(p); err != nil {
		return failed(err)
	}
	return p
}

func (q *queuedSession) reserve(ctx context.Context) error { return q.step(q.disk.reserve).within(ctx) }

// flush waits for the queue, and then for the disk outside of the queue, so that later records need not wait for this
// sync.
func (q *queuedSession) flush(ctx context.Context) error {
	if err := q.step(func() error { return nil }).within(ctx); err != nil {
		return err
	}
	p := &Pending{done: make(chan struct{})}
	go func() { // ends when the disk answers
		p.err = q.disk.flush()
		close(p.done)
	}()
	return p.within(ctx)
}

func (q *queuedSession) since(seq int64, limit int) ([]Entry, bool, error) {
	type page struct {
		entries []Entry
		more    bool
	}
	found, err := within(q.line.limits.write, func() (p page, err error) {
		p.entries, p.more, err = q.disk.since(seq, limit)
		return p, err
	}, nil)
	return found.entries, found.more, err
}

func (q *queuedSession) create(file string) (sink, error) {
	var hand handover
	var made sink
	p := q.step(func() (err error) {
		made, err = q.disk.create(file)
		if s, ok := made.(*diskSink); ok {
			s.note, s.line = q.noteClosed, q.line
		}
		if !hand.claim() && err == nil { // the caller gave up
			_ = made.(*diskSink).f.Close()
		}
		return err
	})
	if _, err := p.Wait(q.patience()); errors.Is(err, ErrPending) && hand.claim() {
		return nil, err
	}
	<-p.done
	if p.err != nil {
		return nil, p.err
	}
	return made, nil
}

// noteClosed notes a complete payload in order: a reader that opens it afterwards finds its reference, and no record that is queued later is
// synced before it.
func (q *queuedSession) noteClosed(file string, ref []byte) {
	_, _ = q.step(func() error { q.disk.noteClosed(file, ref); return nil }).Wait(q.patience())
}

func (q *queuedSession) open(file string) (source, error) {
	return within(q.line.limits.write, func() (source, error) { return q.disk.open(file) }, func(s source) { _ = s.close() })
}

// patience returns how long a caller without a deadline waits for the disk.
func (q *queuedSession) patience() time.Duration {
	if q.stalled() {
		return 0
	}
	return q.line.limits.write
}

func (q *queuedSession) close() error {
	p := q.line.last(func(p *Pending) { p.err = q.disk.close() })
	if p == nil {
		return nil
	}
	q.last.Store(p)
	_, err := p.Wait(q.patience())
	return err
}

func (q *queuedSession) settle(limit time.Duration) error {
	p := q.last.Load()
	if p == nil {
		return nil
	}
	_, err := p.Wait(limit)
	return err
}
