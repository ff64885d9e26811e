// Package server serves a session to its clients: over lines on stdin and stdout, or over HTTP.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"toolhost/cmd/toolhost/internal/session"
)

// Why serving ends although it could go on.
var (
	errStopped = errors.New("the client asked toolhost to shut down")
	errSignal  = errors.New("ended by signal")
)

// Front serves a session until ctx ends or its clients have left, and then closes it. stop ends ctx.
type Front func(ctx context.Context, stop context.CancelCauseFunc) error

// watchDelay is the time before the first check for changed settings. Until then the first messages have the processors for
// themselves.
const watchDelay = 100 * time.Millisecond

// unwatchLimit is how long the end waits for a check of settings.
const unwatchLimit = 500 * time.Millisecond

// Run serves a session with a front until that ends, or a signal comes. Changed settings are put in force meanwhile.
func Run(ctx context.Context, s *session.Session, f Front) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, session.Ending()...)
	// A broken stdout must be an error that ends the calls, not a signal that ends the process. SIGPIPE is caught and
	// not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case sig := <-signals:
			stop(fmt.Errorf("%w %s", errSignal, sig))
		case <-ctx.Done():
		}
	}()
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-time.After(watchDelay):
			s.WatchSettings(watching)
		case <-watching.Done():
		}
	}()
	defer func() {
		unwatch()
		select {
		case <-watched:
		case <-time.After(unwatchLimit): // a file system with settings stalls
		}
	}()
	return f(ctx, stop)
}
