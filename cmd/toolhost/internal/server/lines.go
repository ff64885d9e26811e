package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"toolhost/cmd/toolhost/internal/session"
	"toolhost/cmd/toolhost/internal/streams"
	"toolhost/persist"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// Streams are where lines come from and go to.
type Streams struct {
	In  io.ReadCloser
	Out io.WriteCloser
}

// Standard are stdin and stdout.
func Standard() Streams {
	return Streams{In: streams.Steady{File: streams.Pollable(os.Stdin)}, Out: streams.Steady{File: os.Stdout}}
}

// Lines serves MCP and the native family. Running calls may go on for drain after the input has ended.
func Lines(s *session.Session, at Streams, o MCPOptions, drain time.Duration) Front {
	return func(ctx context.Context, stop context.CancelCauseFunc) error {
		w := stdio.NewWriter(at.Out)
		if memory := s.Memory(); memory > 0 {
			w.Bound(memory)
		}
		o.Host, o.Session, o.Met = s.Host, s.ID(), s.Met
		lines := NewMCPLines(o, w)
		families := []stdio.Family{
			native.New(native.Options{
				Host: s.Host, Writer: w, Session: s.ID(), Version: o.Version, Stop: func() { stop(errStopped) },
				Sandbox: s.Sandbox.Describe(), Approvals: s.ApprovalsNote, Met: s.Met,
			}),
			lines,
		}
		ended := stdio.Serve(ctx, at.In, w, families...)
		if ended == nil {
			lines.settle(ctx) // the host takes no more calls once it drains
		}
		if ended != nil {
			drain = 0
		}
		return finish(s, w, families, ended, drain)
	}
}

// How long the end may take. Every call is answered within a moment after its time is over, and nothing else is worth more: a file system that
// stalls may hold up the end of jobs, the log and the removal of the scratch for as long as it likes.
const (
	answerLimit = 2 * time.Second         // for the answers of calls that were canceled
	logLimit    = 1500 * time.Millisecond // for the end of jobs and of the log, before the output is closed
	lingerLimit = 4 * time.Second         // from the end of drain on: for all of it, behind a closed output
	closeLimit  = 5 * time.Second         // for a client that does not read
)

// finish waits for the accepted calls, closes the log and writes the remaining results.
func finish(s *session.Session, w *stdio.Writer, families []stdio.Family, ended error, drain time.Duration) error {
	limit, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	w.End()
	drained := make(chan struct{})
	go func() { // ends with the process at the latest
		defer close(drained)
		var all sync.WaitGroup
		for _, f := range families {
			all.Go(func() { f.Drain(limit) })
		}
		all.Wait()
	}()
	select {
	case <-drained:
	case <-time.After(drain + answerLimit):
	}
	over := time.Now().Add(lingerLimit)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }() // likewise
	logged, hasClosed := error(persist.ErrPending), false
	select {
	case logged = <-closed:
		hasClosed = true
	case <-time.After(logLimit):
	}
	written := make(chan error, 1)
	go func() { written <- w.Close() }()
	select {
	case err := <-written:
		if err != nil {
			return fmt.Errorf("stdout cannot be written: %v; running calls were canceled", err)
		}
	case <-time.After(closeLimit):
		return fmt.Errorf("the client did not read its results within %s", closeLimit)
	}
	if errors.Is(logged, persist.ErrPending) { // the client waits no longer
		_ = os.Stdout.Close()
	}
	if !hasClosed {
		select {
		case logged = <-closed:
		case <-time.After(time.Until(over)):
		}
	}
	if logged = s.Linger(logged, over); logged != nil {
		return fmt.Errorf("the session log could not be closed: %v", logged)
	}
	if ended != nil && !errors.Is(ended, errStopped) && !errors.Is(ended, errSignal) {
		return fmt.Errorf("stdin cannot be read: %v", ended)
	}
	return nil
}
