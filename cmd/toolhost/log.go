package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

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
				err = printJSON(cmd.OutOrStdout(), sessions...)
			} else {
				err = printSessions(cmd.OutOrStdout(), sessions)
			}
			if more := total - len(sessions); err == nil && limit > 0 && more > 0 {
				fmt.Fprintf(output.Stderr(), "toolhost: %d older sessions are not listed: --limit 0 lists all\n", more)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.Flags().IntVarP(&limit, "limit", "n", listedSessions, "`number` of sessions; 0 is all")
	return cmd
}

func printSessions(out io.Writer, sessions []persist.SessionInfo) error {
	w := output.NewTable(out, "SESSION", "STARTED", "STATE", "RECORDS", "BYTES", "WORKSPACE")
	for _, s := range sessions {
		var made struct {
			Workspace string `json:"workspace"`
		}
		_ = json.Unmarshal(s.Meta, &made) // without it the column is empty
		w.Row(s.ID, s.Started, s.State, s.Records, s.Bytes, made.Workspace)
	}
	return w.Flush()
}

// namedLogs finds the logs that the arguments name.
func namedLogs(args []string) ([]history.Log, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return nil, err
	}
	var logs []history.Log
	for _, arg := range args {
		log, err := history.Find(dir, arg)
		if err != nil {
			return nil, exitf(exitFailed, "%v", err)
		}
		logs = append(logs, log)
	}
	return logs, nil
}
