package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/near"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/history/timeline"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

// show holds the flags of the commands that print time lines, or count what these have.
type show struct {
	timeline.Options
	since, until string
	tools        []string
	pattern      string
	all          bool
	call         string // the client's id or the invocation's; empty: all calls
	now          time.Time
}

func newLogShow() *cobra.Command {
	s := show{}
	cmd := &cobra.Command{
		Use:   "show [SESSION]",
		Short: "Show what the calls of a session did, who allowed it, and what it changed; or everything about one call",
		Long: `show prints a time line: when a call began, its id, tool, end, duration and input. Below stand the prompt and who answered it, the
rule that decided with its file and line, the exit code, changed files and hosts. --call prints everything about one call.

Without a SESSION it shows the session that was used last, and with --since or --all all sessions.
` + exitCodes,
		Example: `  toolhost log show --since yesterday --until today     what was done yesterday, in all sessions
  toolhost log show --asked                             the calls that a person was asked about
  toolhost log show --changed --diff                    the changed files, and how
  toolhost log show --call c7                           input, prompt, decision, sandbox and output of one call`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.OutOrStdout(), args) },
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&s.pattern, "grep", "", "only calls with this regular `expression` in input, output, diff, decision or error")
	f.StringVar(&s.call, "call", "", "show everything about the call with this `id`")
	f.BoolVar(&s.JSON, "json", false, "print the records, one JSON object a line")
	cmd.MarkFlagsMutuallyExclusive("call", "all")
	cmd.MarkFlagsMutuallyExclusive("call", "grep")
	return cmd
}

// chosen adds the flags that choose calls by their time and tool.
func (s *show) chosen(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.since, "since", "", "only calls that began at this `time` or later: yesterday, 2h, 3d, 15:04, 2006-01-02")
	f.StringVar(&s.until, "until", "", "only calls that began before this `time`")
	f.StringSliceVar(&s.tools, "tool", nil, "only calls of this `tool`; may be repeated")
	f.BoolVar(&s.all, "all", false, "all sessions")
}

// flags adds the flags that all time lines have.
func (s *show) flags(cmd *cobra.Command) {
	s.chosen(cmd)
	f := cmd.Flags()
	f.BoolVar(&s.Filter.Asked, "asked", false, "only calls that a person was asked about")
	f.BoolVar(&s.Filter.Denied, "denied", false, "only calls that were not allowed")
	f.BoolVar(&s.Filter.Changed, "changed", false, "only calls that changed files, or whose input writes some")
	f.BoolVar(&s.Filter.Network, "network", false, "only calls that reached another host, or whose input names one")
	f.BoolVar(&s.Why, "why", false, "say of every call what allowed it")
	f.BoolVar(&s.Diff, "diff", false, "print the changes of files")
	f.BoolVar(&s.Output, "output", false, "print the output that the model read")
}

func (s *show) run(out io.Writer, args []string) error {
	logs, err := s.logs(args)
	if err != nil {
		return err
	}
	if s.call != "" {
		return failed(s.Call(out, logs[0], s.call))
	}
	var all timeline.Shown
	for i, log := range logs {
		n, err := s.Log(out, log, s.many(args))
		if err != nil && len(args) == 0 && i < len(logs)-1 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, persist.ErrNewer)) {
			continue // pruned meanwhile, or of a newer version: among all sessions it is left out
		}
		if err != nil {
			return failed(err)
		}
		all.Items += n.Items
		all.Newer += n.Newer
	}
	switch {
	case all.Items > 0 || all.Newer > 0 || s.JSON || s.pattern != "":
	case s.Filter.All():
		fmt.Fprintln(out, "there are no records")
	default:
		fmt.Fprintln(output.Stderr(), "toolhost: no call is of this kind")
	}
	if all.Newer > 0 {
		return exitf(exitFailed, "%d records are not shown: a newer version of toolhost wrote them, in a format that this version does not know", all.Newer)
	}
	return nil
}

// prepare reads the flags.
func (s *show) prepare() (err error) {
	s.now = time.Now()
	if s.Filter.Since, err = s.time("since", s.since); err != nil {
		return err
	}
	if s.Filter.Until, err = s.time("until", s.until); err != nil {
		return err
	}
	if s.Filter.Tools, err = knownTools(s.tools); err != nil || s.pattern == "" {
		return err
	}
	if s.Filter.Pattern, err = regexp.Compile(s.pattern); err != nil {
		return fmt.Errorf("%q is not a regular expression: %w", s.pattern, err)
	}
	return nil
}

// time reads the time of a flag; zero for none.
func (s *show) time(flag, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = history.ParseTime(text, s.now); err != nil {
		err = fmt.Errorf("--%s %w", flag, err)
	}
	return at, err
}

// knownTools refuses a name that is near to that of a tool. Other names may be of tools that this version does not have.
func knownTools(tools []string) ([]string, error) {
	names := builtin.List()
	for _, tool := range tools {
		if meant := near.Word(tool, names); meant != "" && meant != tool {
			return nil, fmt.Errorf("--tool %s: there is no such tool; did you mean %s?", tool, meant)
		}
	}
	return tools, nil
}

// many reports whether the sessions are chosen by time.
func (s *show) many(args []string) bool { return len(args) == 0 && (s.all || s.since != "") }

// logs reads the flags, and returns the logs that are meant, the oldest first.
func (s *show) logs(args []string) ([]history.Log, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if !s.many(args) {
		return namedLogs(args)
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return nil, err
	}
	sessions, err := persist.Recent(dir, s.now)
	if err != nil {
		return nil, exitf(exitFailed, "list sessions: %v", err)
	}
	var logs []history.Log
	named := map[string]bool{}
	for _, recent := range sessions { // a session of several parts was last used when the last of them was
		if recent.Bytes == 0 || recent.Changed.Before(s.Filter.Since) {
			continue
		}
		if log := history.OfSession(dir, recent.ID); !named[log.Session] {
			named[log.Session] = true
			logs = append(logs, log)
		}
	}
	slices.Reverse(logs)
	return logs, nil
}

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
			logs, err := namedLogs(args)
			if err != nil {
				return err
			}
			log, session, from := logs[0], logs[0].Session, s.now
			if !log.Live() {
				return exitf(exitFailed, "session %s has ended: toolhost log show %s shows it", session, session)
			}
			if len(args) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolhost: following session %s; toolhost log list shows the others\n", session)
			}
			if s.since != "" {
				from = time.Time{} // the filter knows the time
			}
			return failed(s.Follow(cmd.OutOrStdout(), log, from))
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
