package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
			if len(args) == 0 && history.Live(paths[0]) {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolhost: following session %s; toolhost log list shows the others\n", filepath.Base(filepath.Dir(paths[0])))
			}
			return s.follow(cmd.OutOrStdout(), paths[0])
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&s.pattern, "grep", "", "only calls with this regular `expression` in input, output, diff, decision or error")
	_ = cmd.Flags().MarkHidden("all") // it follows one session
	return cmd
}

func (s *show) follow(out io.Writer, path string) error {
	session := filepath.Base(filepath.Dir(path))
	if !history.Live(path) {
		return exitf(exitFailed, "session %s has ended: toolhost log show %s shows it", session, session)
	}
	f, err := os.Open(path)
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	defer f.Close()
	to := &timeline{out: out, live: true, why: s.why, diff: s.diff, output: s.output}
	r := history.Reader{Keep: s.diff || s.output || s.filter.Pattern != nil}
	for item, err := range r.Items(&growing{f: f, path: path}) {
		if err != nil {
			return exitf(exitFailed, "%v", err)
		}
		to.follow(item)
		if !s.selects(item) || s.since == "" && ended(item).Before(s.now) {
			continue
		}
		if err := to.item(item); err != nil {
			return exitf(exitFailed, "%v", err)
		}
	}
	return nil
}

// ended returns when an item was complete.
func ended(item history.Item) time.Time {
	switch {
	case item.Call != nil:
		return item.Call.End
	case item.Note != nil:
		return clockTime(item.Note.Time)
	}
	return clockTime(item.Unended.Time)
}

// growing reads a log up to its last line feed and waits for more, until no process writes it.
type growing struct {
	f    *os.File
	path string
	rest []byte
	off  int64
}

// growingPoll is how often a log is looked at.
const growingPoll = 100 * time.Millisecond

func (g *growing) Read(b []byte) (int, error) {
	for last := false; len(g.rest) == 0; {
		chunk := make([]byte, 64<<10)
		n, err := g.f.ReadAt(chunk, g.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		whole := bytes.LastIndexByte(chunk[:n], '\n') + 1
		if whole == 0 && n == len(chunk) { // part of a long line
			whole = n
		}
		g.rest, g.off = chunk[:whole], g.off+int64(whole)
		switch {
		case whole > 0:
		case last:
			return 0, io.EOF
		case !history.Live(g.path): // it may have written until now
			last = true
		default:
			time.Sleep(growingPoll)
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
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
	cmd.Flags().BoolVar(&s.json, "json", false, "print the records of the calls, one JSON object a line")
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
