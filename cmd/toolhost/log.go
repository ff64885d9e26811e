package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/persist"
)

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "log",
		Short:      "Read, count, verify, sign and prune the logs of sessions",
		SuggestFor: []string{"history", "audit", "sessions"},
		Long: `log reads what sessions recorded. A SESSION is the id that "log list" prints, the beginning of one, a session's
directory, or a log file; without one the last used session is meant.
` + exitCodes,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogList(), newLogShow(), newLogFollow(), newLogGrep(), newLogStats(), newLogVerify(), newLogSign(), newLogRedact(), newLogPrune())
	return cmd
}

// listedSessions is how many sessions log list prints unless told otherwise: each is opened and measured.
const listedSessions = 50

func newLogList() *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the last used first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: give a number of sessions, or 0 for all", limit)
			}
			dir, err := dirs.Sessions()
			if err != nil {
				return err
			}
			sessions, total, err := persist.List(dir, limit, time.Now())
			if err != nil {
				return exitf(exitFailed, "list sessions: %v", err)
			}
			if asJSON {
				err = printJSONLines(cmd.OutOrStdout(), sessions)
			} else {
				err = printSessions(cmd.OutOrStdout(), sessions)
			}
			if more := total - len(sessions); err == nil && limit > 0 && more > 0 {
				fmt.Fprintf(os.Stderr, "toolhost: %d older sessions are not listed: --limit 0 lists all\n", more)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().IntVarP(&limit, "limit", "n", listedSessions, "`number` of sessions; 0 is all")
	return cmd
}

func printSessions(out io.Writer, sessions []persist.SessionInfo) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTARTED\tSTATE\tRECORDS\tBYTES\tWORKSPACE")
	for _, s := range sessions {
		var made struct {
			Workspace string `json:"workspace"`
		}
		_ = json.Unmarshal(s.Meta, &made) // without it the column is empty
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", s.ID, s.Started.Local().Format(time.DateTime), s.State, s.Records, s.Bytes, visible.Text(made.Workspace))
	}
	return w.Flush()
}

func printJSONLines[T any](out io.Writer, values []T) error {
	for _, v := range values {
		line, err := agenttool.Encode(v)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return exitf(exitFailed, "%v", err)
		}
	}
	return nil
}

// logPaths finds the log files that the arguments name.
func logPaths(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, arg := range args {
		path, err := history.Log(dir, arg)
		if err != nil {
			return nil, exitf(exitFailed, "%v", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
