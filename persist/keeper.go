package persist

import (
	"context"
	"io"
	"time"

	"toolhost/agenttool"
)

// keeper stores a session in a directory or in memory. A method that is called after close fails with ErrClosed.
type keeper interface {
	submit(events [][]byte, written func(first int64)) *Pending
	reserve(ctx context.Context) error
	flush(ctx context.Context) error // waits for the disk
	stalled() bool
	stuck(limit time.Duration) bool // a step on the disk takes longer
	touch()
	since(seq int64, limit int) (entries []Entry, more bool, err error)
	create(file string) (sink, error)
	open(file string) (source, error)
	close() error
	settle(limit time.Duration) error // waits for the end of close
}

// source is a readable payload.
type source struct {
	r     io.ReaderAt
	close func() error
	size  int64
	ref   agenttool.Ref
}

// sink stores the bytes of one payload. A Write that returns a noRoom stored as much as it could. ReadAt reads the
// written bytes, at any time and from any goroutine.
type sink interface {
	io.Writer
	io.ReaderAt
	// finish closes the sink for writing and stores ref with the bytes.
	finish(ref agenttool.Ref) error
}
