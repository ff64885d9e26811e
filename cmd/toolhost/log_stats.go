package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
)

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

// stats counts the calls of the sessions that are meant. Among several, one that cannot be read is left out.
func (s *show) stats(args []string) (history.Stats, error) {
	found := history.NewStats()
	logs, err := s.logs(args)
	if err != nil {
		return found, err
	}
	for _, log := range logs {
		err := found.Add(log, s.Filter)
		if err != nil && len(logs) == 1 {
			return found, failed(err)
		}
		if err != nil {
			fmt.Fprintf(output.Stderr(), "toolhost: %s is not counted: %v\n", log.Session, err)
		}
	}
	return found, nil
}

func printStats(out io.Writer, found history.Stats) error {
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
