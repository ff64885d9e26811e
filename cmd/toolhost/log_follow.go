package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
)

func newLogFollow() *cobra.Command {
	s := show{}
	cmd := &cobra.Command{
		Use:   "follow [SESSION]",
		Short: "Show calls as they end, until the session ends",
		Long: `follow prints the time line of a running session as it grows, from now on or from --since. Without a SESSION it follows the one
that was used last.
` + exitCodes,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.prepare(); err != nil {
				return err
			}
			paths, err := logPaths(args)
			if err != nil {
				return err
			}
			path, session, from := paths[0], history.Session(paths[0]), s.now
			if !history.Live(path) {
				return exitf(exitFailed, "session %s has ended: toolhost log show %s shows it", session, session)
			}
			if len(args) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolhost: following session %s; toolhost log list shows the others\n", session)
			}
			if s.since != "" {
				from = time.Time{} // the filter knows the time
			}
			return failed(s.Follow(cmd.OutOrStdout(), path, from))
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&s.pattern, "grep", "", "only calls with this regular `expression` in input, output, diff, decision or error")
	_ = cmd.Flags().MarkHidden("all") // it follows one session
	return cmd
}

func newLogGrep() *cobra.Command {
	s := show{}
	cmd := &cobra.Command{
		Use:   "grep PATTERN [SESSION]",
		Short: "Show the calls with a text in input, output, diff, decision or error, of all sessions",
		Long: `grep prints the calls that match a regular expression (RE2) in their input, output, diff, decision or error. Without a SESSION it
reads all of them. It exits with 1 if there is none.
` + exitCodes,
		Example: `  toolhost log grep 'rm -rf'
  toolhost log grep 'example\.com' --since 7d --output`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.pattern, s.all = args[0], true
			found := &counting{to: cmd.OutOrStdout()}
			if err := s.run(found, args[1:]); err != nil {
				return err
			}
			if found.n == 0 {
				return exitf(exitFailed, "no call matches %s", visible.Text(args[0]))
			}
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&s.JSON, "json", false, "print the records of the calls, one JSON object a line")
	_ = cmd.Flags().MarkHidden("all") // it is the default
	return cmd
}

// counting is a writer that knows whether anything was written.
type counting struct {
	to io.Writer
	n  int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	if err != nil {
		err = fmt.Errorf("write the output: %w", err)
	}
	return n, err
}
