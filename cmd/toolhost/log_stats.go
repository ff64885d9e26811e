package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

// tally counts the calls of one tool, or of all.
type tally struct {
	Tool      string `json:"tool"` // "all" in the sum
	Calls     int    `json:"calls"`
	Failed    int    `json:"failed"`
	Prompts   int    `json:"prompts"`
	Denied    int    `json:"denied"`
	Unended   int    `json:"unended"`
	Changed   int    `json:"changed_files"`
	RunMS     int64  `json:"run_ms"`       // between begin and end, prompts included
	WaitMS    int64  `json:"prompt_ms"`    // between prompt and answer
	OutputLen int64  `json:"output_bytes"` // of commands
}

// add counts a call.
func (t *tally) add(c *history.Call) {
	t.Calls++
	switch c.Status {
	case "":
		t.Unended++
	case agenttool.ResultSucceeded, agenttool.ResultPartialSucceeded:
	default:
		t.Failed++
	}
	if c.Denied() {
		t.Denied++
	}
	t.Changed += len(c.Changes())
	t.OutputLen += c.Outcome.StdoutBytes + c.Outcome.StderrBytes
	if !c.End.IsZero() {
		t.RunMS += c.End.Sub(c.Start).Milliseconds()
	}
	t.Prompts += len(c.Asked)
	for _, d := range c.Decided {
		if i := c.Question(d); i >= 0 && d.RequestRef == c.Asked[i].ID {
			t.WaitMS += d.Time.Sub(c.Asked[i].Time).Milliseconds()
		}
	}
}

// logStats is the result of log stats.
type logStats struct {
	Sessions int     `json:"sessions"`
	LogBytes int64   `json:"log_bytes"`
	Bytes    int64   `json:"bytes"` // of all files of the sessions
	Tools    []tally `json:"tools"`
	All      tally   `json:"all"`
}

func newLogStats() *cobra.Command {
	s := show{}
	cmd := &cobra.Command{
		Use:   "stats [SESSION…]",
		Short: "Count calls, prompts, denials, time and bytes",
		Long: `stats counts by tool. "failed" includes denied calls; "time" is between begin and end of the calls, and "waited" the part of it in
which a prompt was open; "output" is that of commands. Without a SESSION it counts the one that was used last, and with --since or --all all of them.
` + exitCodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := s.stats(args)
			if err != nil {
				return err
			}
			if s.JSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			return printStats(cmd.OutOrStdout(), found)
		},
	}
	s.chosen(cmd)
	cmd.Flags().BoolVar(&s.JSON, "json", false, "print one JSON object")
	return cmd
}

func (s *show) stats(args []string) (found logStats, err error) {
	paths, err := s.paths(args)
	if err != nil {
		return found, err
	}
	tools := map[string]*tally{}
	for _, path := range paths {
		if err := s.count(path, tools); err != nil && len(paths) == 1 {
			return found, exitf(exitFailed, "%v", err)
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "toolhost: %s is not counted: %v\n", filepath.Base(filepath.Dir(path)), err)
			continue
		}
		found.Sessions++
		if info, err := os.Stat(path); err == nil {
			found.LogBytes += info.Size()
		}
		found.Bytes += persist.SessionBytes(filepath.Dir(path))
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if name != "all" {
			found.Tools = append(found.Tools, *tools[name])
		}
	}
	found.All = tally{Tool: "all"}
	if all := tools["all"]; all != nil {
		found.All = *all
	}
	return found, nil
}

// count adds the calls of one log to the tallies of their tools and of all.
func (s *show) count(path string, tools map[string]*tally) error {
	if err := persist.CheckFormat(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := history.Reader{}
	for item, err := range r.Items(f) {
		if err != nil {
			return err
		}
		c := item.Call
		if item.Unended != nil && item.Unended.CallRuns {
			c = item.Unended.Call
		}
		if c == nil || !s.Filter.Match(c) {
			continue
		}
		for _, name := range []string{c.ToolName(), "all"} {
			if tools[name] == nil {
				tools[name] = &tally{Tool: name}
			}
			tools[name].add(c)
		}
	}
	return nil
}

func printStats(out io.Writer, found logStats) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "TOOL\tCALLS\tFAILED\tPROMPTS\tDENIED\tNOT ENDED\tCHANGED FILES\tTIME\tWAITED\tOUTPUT\t")
	for _, t := range append(found.Tools, found.All) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t\n", visible.Text(t.Tool), t.Calls, t.Failed, t.Prompts, t.Denied, t.Unended, t.Changed,
			milliseconds(t.RunMS), milliseconds(t.WaitMS), output.Size(t.OutputLen))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s: logs %s, with stored outputs %s\n", output.Count(found.Sessions, "session"), output.Size(found.LogBytes), output.Size(found.Bytes))
	return err
}

func milliseconds(n int64) string {
	d := time.Duration(n) * time.Millisecond
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
