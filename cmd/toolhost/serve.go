package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/persist"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

func newServe() *cobra.Command {
	var s setup
	var h httpFlags
	var drain time.Duration
	var ephemeral, onTTY bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve calls over JSON-RPC lines on stdin and stdout, or over HTTP",
		Long: `serve reads one JSON-RPC 2.0 message a line from stdin and writes one a line to stdout, until stdin ends. It speaks MCP, and
beside it the native family, agenttool/*. With --http it serves MCP, RAP and events at an address instead, until a signal ends it.

Calls that only read the workspace run unasked. Everything else needs a rule (--allow, toolhost settings), or a person:
toolhost approve in another terminal, or a client that says approvals: true in agenttool/hello and answers with
agenttool/decide, or an MCP client that shows elicitations.
` + exitCodes,
		Example: `  toolhost serve --mode accept_edits                            for a client that starts it: see toolhost mcp-config
  toolhost serve --http 127.0.0.1:8722 --http-token-file ~/.config/toolhost/token
  echo '{"jsonrpc":"2.0","id":1,"method":"agenttool/invoke","params":{"id":"c1","tool":"grep","input":{"pattern":"func main"}}}' | toolhost serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			limitMemory()
			if err := h.check(); err != nil {
				return err
			}
			open := func(root string) (*persist.Store, error) {
				if ephemeral && !cmd.Flags().Changed("job-output") {
					s.jobOutput = ephemeralOutput
				}
				dir, err := dirs.Sessions()
				return persist.New(persist.Options{Dir: dir, Meta: meta(root), Ephemeral: ephemeral, PayloadLimit: int64(s.jobOutput)}), err
			}
			s.reached, s.own = listen(), h.files()
			session, err := s.open(open, false)
			if err != nil {
				return err
			}
			if onTTY {
				end, err := answerOnTerminal(context.Background(), session)
				if err != nil {
					return err
				}
				defer end()
			}
			f := onLines(session, drain)
			if h.addr != "" {
				h.memoryOnly = ephemeral
				if f, err = h.front(session); err != nil {
					return errors.Join(err, session.close())
				}
			}
			return serve(session, f)
		},
	}
	s.addFlags(cmd)
	h.addFlags(cmd)
	cmd.Flags().DurationVar(&drain, "drain", 10*time.Second, "how long running calls may go on after stdin has ended")
	cmd.Flags().BoolVar(&onTTY, "approve-on-tty", false, "show prompts at the terminal that toolhost was started from, and take answers there, line by line")
	cmd.Flags().BoolVar(&ephemeral, "ephemeral", false, "keep the session in memory only: nothing can be read afterwards")
	return cmd
}

// ephemeralOutput is how much of each command's output an ephemeral session keeps, in memory.
const ephemeralOutput = 4 << 20

// Why the stream ends although it could go on.
var (
	errStopped = errors.New("the client asked toolhost to shut down")
	errSignal  = errors.New("ended by signal")
)

// front is a way by which clients reach a session. It serves until ctx ends or its clients have gone, and then ends the session.
type front func(ctx context.Context, stop context.CancelCauseFunc) error

// watchDelay is when settings are first looked at again. Until then the first messages have the processors for themselves.
const watchDelay = 100 * time.Millisecond

// serve runs the session behind a front until that ends, or a signal comes.
func serve(s *session, f front) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	// A broken stdout must be an error that ends the calls, not a signal that ends the process. SIGPIPE is caught and
	// not ignored, because children would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	go func() {
		select {
		case sig := <-signals:
			stop(fmt.Errorf("%w %s", errSignal, sig))
		case <-ctx.Done():
		}
	}()
	go pruneBeside(ctx, s.store.ID())
	watching, unwatch := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-time.After(watchDelay):
			s.live.watch(watching, s)
		case <-watching.Done():
		}
	}()
	defer func() {
		unwatch()
		<-watched
	}()
	defer startTrimmer(func() { s.search.Trim(keptBytes) })()
	s.showCode()
	return f(ctx, stop)
}

// onLines serves both families on stdin and stdout.
func onLines(s *session, drain time.Duration) front {
	return func(ctx context.Context, stop context.CancelCauseFunc) error {
		w := stdio.NewWriter(steady{os.Stdout})
		if memory := boundMemory(); memory > 0 {
			w.Bound(memory)
		}
		if term.IsTerminal(int(os.Stdin.Fd())) {
			fmt.Fprintln(os.Stderr, "toolhost: reading JSON-RPC lines from this terminal. Agents start this command themselves (toolhost mcp-config); --http ADDR serves over HTTP")
		}
		lines := newMCPLines(s, w)
		families := []stdio.Family{
			native.New(native.Options{
				Host: s.host, Writer: w, Session: s.store.ID(), Version: version(), Stop: func() { stop(errStopped) },
				Sandbox: s.box.describe(), Approvals: s.approvalsNote,
			}),
			lines,
		}
		ended := stdio.Serve(ctx, steady{pollable(os.Stdin)}, w, families...)
		if ended == nil {
			lines.settle(ctx) // the host takes no more calls once it drains
		}
		if ended != nil {
			drain = 0
		}
		return finish(s, w, families, ended, drain)
	}
}

// closeLimit is how long a client that does not read may keep the process at its end.
const closeLimit = 5 * time.Second

// finish answers what was accepted, closes the log and writes what is left.
func finish(s *session, w *stdio.Writer, families []stdio.Family, ended error, drain time.Duration) error {
	limit, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	w.End()
	var drained sync.WaitGroup
	for _, f := range families {
		drained.Go(func() { f.Drain(limit) })
	}
	drained.Wait()
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
	if errors.Is(logged, persist.ErrPending) { // the kernel keeps the process, and its descriptors, until the disk answers
		_ = os.Stdout.Close()
	}
	if logged != nil {
		return exitf(exitFailed, "the session log could not be closed: %v", logged)
	}
	if ended != nil && !errors.Is(ended, errStopped) && !errors.Is(ended, errSignal) {
		return exitf(exitFailed, "stdin cannot be read: %v", ended)
	}
	return nil
}
