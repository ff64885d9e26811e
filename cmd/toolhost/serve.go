package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/memory"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/server"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/persist"
	"toolhost/persist/redact"
	"toolhost/wire/mcp"
)

func newServe() *cobra.Command {
	var s sessionFlags
	var h httpFlags
	var drain time.Duration
	var ephemeral, onTTY bool
	var list string
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
			if err := memory.Limit(); err != nil {
				return failed(err)
			}
			results, err := parseResults(list)
			if err != nil {
				return err
			}
			if err := h.check(); err != nil {
				return err
			}
			open := func(root string, r *redact.Redactor) (*persist.Store, error) {
				if ephemeral && !cmd.Flags().Changed("job-output") {
					s.jobOutput = ephemeralOutput
				}
				dir, err := dirs.Sessions()
				return persist.New(persist.Options{Dir: dir, Meta: session.Meta(root, version()), Ephemeral: ephemeral, PayloadLimit: int64(s.jobOutput), Redactor: r}), err
			}
			o := s.options()
			o.Store, o.Reachable, o.Policy.Own = open, true, h.files()
			begun := watchStart(exitFailed, o)
			defer begun()
			at, err := server.Place(cmd.Context(), &o, h.options.Addr == "")
			if err != nil {
				return err
			}
			session, err := session.New(o)
			if err != nil {
				return err
			}
			if onTTY {
				end, err := server.ApproveOnTerminal(context.Background(), session)
				if err != nil {
					return err
				}
				defer end()
			}
			return serve(session, func() (server.Front, error) {
				begun()
				if h.options.Addr != "" {
					h.options.MemoryOnly, h.options.Results = ephemeral, results
					return h.front(session)
				}
				return onLines(session, at, results, drain), nil
			})
		},
	}
	s.addFlags(cmd)
	h.addFlags(cmd)
	cmd.Flags().DurationVar(&drain, "drain", 6*time.Second, "how long running calls may go on after stdin has ended")
	cmd.Flags().BoolVar(&onTTY, "approve-on-tty", false, "show prompts at the terminal that toolhost was started from, and take answers there, line by line")
	cmd.Flags().StringVar(&list, "results", "", "how MCP clients take results, if not as they are known to: a `list` of structured, meta, bytes=N, lines=N, wait=DURATION")
	cmd.Flags().BoolVar(&ephemeral, "ephemeral", false, "keep the session in memory only: nothing can be read afterwards")
	return cmd
}

// parseResults reads the value of --results; empty means none.
func parseResults(list string) (mcp.Results, error) {
	if list == "" {
		return mcp.Results{}, nil
	}
	results, err := mcp.ParseResults(list)
	if err != nil {
		return mcp.Results{}, fmt.Errorf("--results: %w", err)
	}
	return results, nil
}

// ephemeralOutput is how much of each command's output an ephemeral session keeps, in memory.
const ephemeralOutput = 4 << 20

// serve serves a session with a front until that ends.
func serve(s *session.Session, open func() (server.Front, error)) error {
	f, err := open()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer pruneBeside(ctx, s, logLine)()
	defer cancel()
	go endDied(ctx)
	defer memory.StartTrimmer(s.TrimCaches)()
	if code := s.Code(); code != "" && output.IsTerminal(os.Stderr) {
		fmt.Fprintln(output.Stderr(), "toolhost: to answer prompts of this session with toolhost approve, give the code", code)
	}
	_ = memory.MapSingly() // where the kernel cannot, the program takes more memory
	if err := server.Run(ctx, s, f); err != nil {
		return exitf(exitFailed, "%v", err)
	}
	return nil
}

// endDied ends the sessions of hosts that died, once the first replies have been given.
func endDied(ctx context.Context) {
	const delay = 300 * time.Millisecond
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return
	}
	if dir, err := dirs.Sessions(); err == nil {
		history.EndDied(ctx, dir)
	}
}

// onLines serves lines. In a terminal it tells the person what it waits for.
func onLines(s *session.Session, at server.Streams, results mcp.Results, drain time.Duration) server.Front {
	return func(ctx context.Context, stop context.CancelCauseFunc) error {
		if output.IsTerminal(os.Stdin) {
			fmt.Fprintln(output.Stderr(), "toolhost: reading JSON-RPC lines from this terminal. Agents start this command themselves (toolhost mcp-config); --http ADDR serves over HTTP")
		}
		return server.Lines(s, at, server.MCPOptions{Version: version(), Results: results}, drain)(ctx, stop)
	}
}
