package persist

import (
	"context"
	"errors"
	"time"
)

// queued is a session on a disk that may stall at any step. Whatever touches the disk waits in a queue, or beside it, so that
// callers wait no longer than they want to.
type queued struct {
	*disk
	line *appender
}

func newQueued(d *disk) *queued { return &queued{d, &appender{}} }

func (q *queued) submit(events [][]byte, told func(first int64)) *Pending {
	p := &Pending{do: q.write, events: events, told: told}
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

// write is the step of a group of events.
func (q *queued) write(p *Pending) {
	if p.first, p.err = q.append(p.events); p.err == nil && p.told != nil {
		p.told(p.first)
	}
}

// lose counts events for which there was no room, at their place behind those that are queued.
func (q *queued) lose(events int) {
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

func (q *queued) stalled() bool { return q.line.stalled() }

func (q *queued) touch() { q.step(q.disk.touch) }

// step queues what has an error alone as its outcome.
func (q *queued) step(do func() error) *Pending {
	p := &Pending{do: func(p *Pending) { p.err = do() }}
	if err := q.line.put(p); err != nil {
		return failed(err)
	}
	return p
}

func (q *queued) reserve(ctx context.Context) error { return q.step(q.disk.reserve).within(ctx) }

// flush waits for the queue, and then for the disk beside it: records of others need not wait until those of now are there.
func (q *queued) flush(ctx context.Context) error {
	if err := q.step(func() error { return nil }).within(ctx); err != nil {
		return err
	}
	p := &Pending{done: make(chan struct{})}
	go func() { // ends with the disk's answer
		p.err = q.disk.flush()
		close(p.done)
	}()
	return p.within(ctx)
}

func (q *queued) since(seq int64, limit int) ([]Entry, bool, error) {
	type page struct {
		entries []Entry
		more    bool
	}
	found, err := within(writeLimit, func() (p page, err error) {
		p.entries, p.more, err = q.disk.since(seq, limit)
		return p, err
	}, nil)
	return found.entries, found.more, err
}

func (q *queued) create(file string) (sink, error) {
	var hand handover
	var made sink
	p := q.step(func() (err error) {
		made, err = q.disk.create(file)
		if s, ok := made.(*diskSink); ok {
			s.note, s.line = q.noteRef, q.line
		}
		if !hand.claim() && err == nil { // the caller waits no longer
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

// noteRef notes a reference in its turn. Who opens the payload right after it finds it.
func (q *queued) noteRef(line []byte) {
	_, _ = q.step(func() error { q.disk.noteRef(line); return nil }).Wait(q.patience())
}

func (q *queued) open(file string) (source, error) {
	return within(writeLimit, func() (source, error) { return q.disk.open(file) }, func(s source) { _ = s.close() })
}

// patience is how long a caller waits for the disk that has no deadline of its own.
func (q *queued) patience() time.Duration {
	if q.stalled() {
		return 0
	}
	return writeLimit
}

func (q *queued) close() error {
	p := q.line.last(func(p *Pending) { p.err = q.disk.close() })
	if p == nil {
		return nil
	}
	_, err := p.Wait(q.patience())
	return err
}
