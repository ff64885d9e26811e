package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/near"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/persist"
)

// show holds the flags of the commands that print time lines.
type show struct {
	filter            history.Filter
	since, until      string
	tools             []string
	pattern           string
	json, all         bool
	why, diff, output bool
	call              string // the client's id or the invocation's; empty: all calls
	now               time.Time
	printed           int // items so far
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
	f.BoolVar(&s.json, "json", false, "print the records, one JSON object a line")
	cmd.MarkFlagsMutuallyExclusive("call", "all")
	cmd.MarkFlagsMutuallyExclusive("call", "grep")
	return cmd
}

// flags adds the flags that all time lines have.
func (s *show) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.since, "since", "", "only calls that began at this `time` or later: yesterday, 2h, 3d, 15:04, 2006-01-02")
	f.StringVar(&s.until, "until", "", "only calls that began before this `time`")
	f.StringSliceVar(&s.tools, "tool", nil, "only calls of this `tool`; may be repeated")
	f.BoolVar(&s.filter.Asked, "asked", false, "only calls that a person was asked about")
	f.BoolVar(&s.filter.Denied, "denied", false, "only calls that were not allowed")
	f.BoolVar(&s.filter.Changed, "changed", false, "only calls that changed files, or whose input writes some")
	f.BoolVar(&s.filter.Network, "network", false, "only calls that reached another host, or whose input names one")
	f.BoolVar(&s.all, "all", false, "all sessions")
	f.BoolVar(&s.why, "why", false, "say of every call what allowed it")
	f.BoolVar(&s.diff, "diff", false, "print the changes of files")
	f.BoolVar(&s.output, "output", false, "print the output that the model read")
}

func (s *show) run(out io.Writer, args []string) error {
	if err := s.prepare(); err != nil {
		return err
	}
	paths, err := s.paths(args)
	if err != nil {
		return err
	}
	if s.call != "" {
		return s.one(out, paths[0])
	}
	newer := 0
	for i, path := range paths {
		n, err := s.session(out, path, s.many(args))
		if err != nil && len(args) == 0 && i < len(paths)-1 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, persist.ErrNewer)) {
			continue // pruned meanwhile, or of a newer version: among all sessions it is left out
		}
		if err != nil {
			return exitf(exitFailed, "%v", err)
		}
		newer += n
	}
	switch {
	case s.printed > 0 || newer > 0 || s.json || s.pattern != "":
	case s.filter.All():
		fmt.Fprintln(out, "there are no records")
	default:
		fmt.Fprintln(os.Stderr, "toolhost: no call is of this kind")
	}
	if newer > 0 {
		return exitf(exitFailed, "%d records are not shown: a newer version of toolhost wrote them, in a format that this version does not know", newer)
	}
	return nil
}

// prepare reads the flags.
func (s *show) prepare() (err error) {
	s.now = time.Now()
	for _, f := range []struct {
		name, text string
		to         *time.Time
	}{{"since", s.since, &s.filter.Since}, {"until", s.until, &s.filter.Until}} {
		if f.text == "" {
			continue
		}
		if *f.to, err = history.ParseTime(f.text, s.now); err != nil {
			return fmt.Errorf("--%s %w", f.name, err)
		}
	}
	if s.filter.Tools, err = knownTools(s.tools); err != nil {
		return err
	}
	if s.pattern != "" {
		if s.filter.Pattern, err = regexp.Compile(s.pattern); err != nil {
			return fmt.Errorf("%q is not a regular expression: %w", s.pattern, err)
		}
	}
	return nil
}

// knownTools refuses a name that is near to that of a tool. Other names may be of tools that this version does not have.
func knownTools(tools []string) ([]string, error) {
	var names []string
	for _, t := range builtin.Described() {
		names = append(names, t.Describe().Declaration.Name)
	}
	for _, tool := range tools {
		if meant := near.Word(tool, names); meant != "" && meant != tool {
			return nil, fmt.Errorf("--tool %s: there is no such tool; did you mean %s?", tool, meant)
		}
	}
	return tools, nil
}

// many reports whether the sessions are chosen by time.
func (s *show) many(args []string) bool { return len(args) == 0 && (s.all || s.since != "") }

// paths returns the logs that are shown, the oldest first.
func (s *show) paths(args []string) ([]string, error) {
	if !s.many(args) {
		return logPaths(args)
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return nil, err
	}
	sessions, err := persist.Recent(dir, s.now)
	if err != nil {
		return nil, exitf(exitFailed, "list sessions: %v", err)
	}
	var paths []string
	for _, recent := range slices.Backward(sessions) {
		if recent.Bytes > 0 && !recent.Changed.Before(s.filter.Since) {
			paths = append(paths, filepath.Join(dir, string(recent.ID), persist.LogName))
		}
	}
	return paths, nil
}

// session prints the time line of one log, and returns how many of its records a newer version wrote.
func (s *show) session(out io.Writer, path string, several bool) (newer int, err error) {
	if err := persist.CheckFormat(path); err != nil {
		return 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if s.json && s.filter.All() {
		return records(out, f)
	}
	to := &timeline{out: out, live: history.Live(path), why: s.why, diff: s.diff, output: s.output}
	r := history.Reader{Keep: s.json || s.diff || s.output || s.filter.Pattern != nil}
	named := !several
	for item, err := range r.Items(f) {
		if err != nil {
			return 0, err
		}
		to.follow(item)
		if !s.selects(item) {
			continue
		}
		if !named {
			named = true
			if _, err := fmt.Fprintf(out, "session %s\n", filepath.Base(filepath.Dir(path))); err != nil {
				return 0, err
			}
		}
		s.printed++
		if err := s.print(to, item); err != nil {
			return 0, err
		}
	}
	return r.Newer, nil
}

// selects reports whether an item of a time line is shown.
func (s *show) selects(item history.Item) bool {
	switch {
	case item.Call != nil:
		return s.filter.Match(item.Call)
	case item.Unended != nil:
		return s.filter.Match(item.Unended.Call)
	}
	return s.filter.All() // what concerns the session is shown with all calls only
}

func (s *show) print(to *timeline, item history.Item) error {
	if !s.json {
		return to.item(item)
	}
	c := item.Call
	if c == nil && item.Unended != nil {
		c = item.Unended.Call
	}
	if c == nil {
		return nil
	}
	return printJSON(to.out, c.Records...)
}

// records prints all records of a log as JSON.
func records(out io.Writer, log io.Reader) (newer int, err error) {
	for entry, err := range persist.Read(log) {
		switch {
		case errors.Is(err, persist.ErrNewer):
			newer++
			continue
		case err != nil:
			return newer, fmt.Errorf("%w: toolhost log verify says more", err)
		}
		if err := printJSON(out, entry); err != nil {
			return newer, err
		}
	}
	return newer, nil
}

// one prints everything about one call.
func (s *show) one(out io.Writer, path string) error {
	if err := persist.CheckFormat(path); err != nil {
		return exitf(exitFailed, "%v", err)
	}
	calls, err := persist.Calls(path)
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	found := slices.DeleteFunc(slices.Clone(calls), func(c persist.CallPlace) bool { return c.Subject != s.call && string(c.Invocation) != s.call })
	if len(found) == 0 {
		return noCall(path, s.call, calls)
	}
	f, err := os.Open(path)
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	defer f.Close()
	for _, place := range found {
		entries, err := persist.ReadCall(f, place)
		if err == nil && s.json {
			err = printJSON(out, entries...)
		} else if err == nil {
			err = printCall(out, path, entries)
		}
		if err != nil {
			return exitf(exitFailed, "%v", err)
		}
	}
	return nil
}

// noCall is the error of a call that a log does not have.
func noCall(path, id string, calls []persist.CallPlace) error {
	ids := make([]string, 0, len(calls))
	for _, c := range calls {
		ids = append(ids, c.Subject)
	}
	session := filepath.Base(filepath.Dir(path))
	if meant := near.Word(id, ids); meant != "" {
		return exitf(exitFailed, "session %s has no call %s; did you mean %s?", session, visible.Text(id), visible.Text(meant))
	}
	return exitf(exitFailed, "session %s has no call %s: toolhost log show %s lists its %d calls", session, visible.Text(id), session, len(calls))
}
