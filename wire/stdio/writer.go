package stdio

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Writer owns the output. It queues lines, and one goroutine writes them, so that no sender waits for a client that does
// not read: such a client loses droppable lines, and never results.
type Writer struct {
	out    io.Writer
	bounds bounds
	broken chan struct{}

	mu      sync.Mutex
	changed sync.Cond
	backlog
	shutdown
}

// backlog has the bytes that are not written yet.
type backlog struct {
	queue   []byte // whole lines, in order
	writing int    // bytes taken from the queue and not yet written
}

// shutdown is the end of a writer, by an error or by Close.
type shutdown struct {
	err    error
	ending bool // Room does not wait any more
	closed bool
	done   chan struct{}
}

// Limits of the queue for a client that does not read, in bytes, unless memory bounds it further.
const (
	dropAbove  = 1 << 20  // droppable lines are dropped
	busyAbove  = 32 << 20 // no more work is taken on
	pauseAbove = 64 << 20 // nothing is read any more
)

// bounds are those of one stream, in bytes.
type bounds struct{ line, busy, pause int }

// Bound lowers the limits of the line length and of the queue to fit a process with so much memory. Callers call it before
// Serve.
func (w *Writer) Bound(memory int64) {
	w.bounds = bounds{line: int(min(MaxLine, memory/32)), busy: int(min(busyAbove, memory/16)), pause: int(min(pauseAbove, memory/8))}
}

// NewWriter returns a Writer that owns out. Close ends it.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, broken: make(chan struct{}), shutdown: shutdown{done: make(chan struct{})}, bounds: bounds{MaxLine, busyAbove, pauseAbove}}
	w.changed.L = &w.mu
	go w.run()
	return w
}

// Send queues one line, given in parts and without its end. A droppable line may never be written.
func (w *Writer) Send(droppable bool, parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil || droppable && w.waiting() > dropAbove {
		return
	}
	size := 1
	for _, part := range parts {
		size += len(part)
	}
	w.queue = slices.Grow(w.queue, size) // once: a long line is copied once
	for _, part := range parts {
		w.queue = append(w.queue, part...)
	}
	w.queue = append(w.queue, '\n')
	w.changed.Broadcast()
}

// Reply sends the response to the request id: result, or err. A nil id is written as null.
func (w *Writer) Reply(id, result json.RawMessage, err *Error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	name, value := `,"result":`, []byte(result)
	if err != nil {
		var encErr error
		name = `,"error":`
		if value, encErr = agenttool.Encode(err); encErr != nil {
			value = []byte(`{"code":-32603,"message":"internal error"}`)
		}
	}
	w.Send(false, []byte(`{"jsonrpc":"2.0","id":`), id, []byte(name), value, []byte("}"))
}

// ReplyIn sends the response to the request id, which is not nil. Its result is the parts, one after the other.
func (w *Writer) ReplyIn(id json.RawMessage, parts ...[]byte) {
	line := append([][]byte{[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`)}, parts...)
	w.Send(false, append(line, []byte("}"))...)
}

// Busy reports whether so much waits to be read that no more work should be taken on.
func (w *Writer) Busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting() > w.bounds.busy
}

// Room waits while so much is unread that no more should be made, until End.
func (w *Writer) Room() { w.waitBelow(w.bounds.busy) }

// End announces the end: no new work comes, and from here on Room does not wait.
func (w *Writer) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
	w.changed.Broadcast()
}

// Pause waits while more is unread than can be kept. A client that reads nothing for patience has gone: the output
// counts as broken then.
func (w *Writer) Pause() {
	if w.Busy() {
		impatient := time.AfterFunc(patience, func() { w.fail(errUnread) })
		defer impatient.Stop()
		w.waitBelow(w.bounds.pause)
	}
}

// patience is how long the reader waits for a client that has 64 MiB to read and goes on writing.
const patience = 10 * time.Second

var errUnread = errors.New("the client does not read its results")

func (w *Writer) waitBelow(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.waiting() > limit && w.err == nil && !w.ending {
		w.changed.Wait()
	}
}

// fail breaks the output, once.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	w.err, w.queue = err, nil
	w.changed.Broadcast()
	close(w.broken)
}

// Broken is closed when the output cannot be written any more.
func (w *Writer) Broken() <-chan struct{} { return w.broken }

// Err returns why the output broke, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close writes the queued lines and ends the writer. It returns when all is written or the output broke.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed, w.ending = true, true
	w.changed.Broadcast()
	w.mu.Unlock()
	<-w.done
	return w.Err()
}

// waiting returns how many bytes the client has not read. The caller holds mu.
func (w *Writer) waiting() int { return len(w.queue) + w.writing }

func (w *Writer) run() {
	defer close(w.done)
	var spare []byte
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.changed.Wait()
		}
		if len(w.queue) == 0 {
			w.mu.Unlock()
			return
		}
		lines := w.queue
		w.queue, w.writing = spare[:0], len(lines)
		w.mu.Unlock()

		_, err := w.out.Write(lines)
		if spare = lines; cap(spare) > dropAbove {
			spare = nil // one large result is no reason to keep its room
		}
		if err != nil {
			w.fail(err)
		}
		w.mu.Lock()
		w.writing = 0
		w.changed.Broadcast()
		ended := w.err != nil
		w.mu.Unlock()
		if ended {
			return
		}
	}
}
