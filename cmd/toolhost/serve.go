package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"toolhost/persist"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

func newServe() *cobra.Command {
	var s setup
	var drain time.Duration
	var ephemeral bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve calls over JSON-RPC lines on stdin and stdout",
		Long: `serve reads one JSON-RPC 2.0 message a line from stdin and writes one a line to stdout, until stdin ends.
Calls that only read the workspace run unasked. Everything else needs an --allow rule, or a client that says
approvals: true in agenttool/hello and answers with agenttool/decide.
` + exitCodes,
		Example: `  echo '{"jsonrpc":"2.0","id":1,"method":"agenttool/invoke","params":{"id":"c1","tool":"grep","input":{"pattern":"func main"}}}' | toolhost serve`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			open := func(root string) (*persist.Store, error) {
				dir, err := sessionsDir()
				return persist.New(persist.Options{Dir: dir, Meta: meta(root), Ephemeral: ephemeral}), err
			}
			session, err := s.open(open, false)
			if err != nil {
				return err
			}
			return serve(session, drain)
		},
	}
	s.addFlags(cmd.Flags())
	cmd.Flags().DurationVar(&drain, "drain", 10*time.Second, "how long running calls may go on after stdin has ended")
	cmd.Flags().BoolVar(&ephemeral, "ephemeral", false, "keep the session in memory only: nothing can be read afterwards")
	return cmd
}

// Why the stream ends although it could go on.
var (
	errStopped = errors.New("the client asked toolhost to shut down")
	errSignal  = errors.New("ended by signal")
)

// gcPercent trades a few MiB for fewer collections: a host lives on some 5 MiB, and each call leaves 50 KB behind.
const gcPercent = 200

// serve runs the session on stdin and stdout until one of them ends.
func serve(s *session, drain time.Duration) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	// A broken stdout must be an error that ends the calls, not a signal that ends the process. SIGPIPE is caught and
	// not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	debug.SetGCPercent(gcPercent)

	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	go func() {
		select {
		case sig := <-signals:
			stop(fmt.Errorf("%w %s", errSignal, sig))
		case <-ctx.Done():
		}
	}()
	w := stdio.NewWriter(os.Stdout)
	family := native.New(native.Options{
		Host: s.host, Writer: w, Session: s.store.ID(), Version: version(), Stop: func() { stop(errStopped) },
		Sandbox: s.box.describe(),
	})
	go pruneLater(s)
	ended := stdio.Serve(ctx, pollable(os.Stdin), w, family)
	if ended != nil {
		drain = 0
	}
	return finish(s, w, family, ended, drain)
}

// closeLimit is how long a client that does not read may keep the process at its end.
const closeLimit = 5 * time.Second

// finish answers what was accepted, closes the log and writes what is left.
func finish(s *session, w *stdio.Writer, family *native.Family, ended error, drain time.Duration) error {
	limit, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	w.End()
	family.Drain(limit)
	logged := s.close()
	written := make(chan error, 1)
	go func() { written <- w.Close() }()
	select {
	case err := <-written:
		if err != nil {
			return exitf(exitFailed, "stdout cannot be written: %v; running calls were canceled", err)
		}
	case <-time.After(closeLimit):
		return exitf(exitFailed, "the client did not read its results within %s", closeLimit)
	}
	if logged != nil {
		return exitf(exitFailed, "the session log could not be closed: %v", logged)
	}
	if ended != nil && !errors.Is(ended, errStopped) && !errors.Is(ended, errSignal) {
		return exitf(exitFailed, "stdin cannot be read: %v", ended)
	}
	return nil
}
