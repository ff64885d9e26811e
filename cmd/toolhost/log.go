package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		Use:   "log",
		Short: "Read, verify and prune the logs of sessions",
		Long: `log reads what sessions recorded. A SESSION is the id that "log list" prints, the beginning of one, a session's
directory, or a log file; without one the last used session is meant.
` + exitCodes,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogList(), newLogShow(), newLogVerify(), newLogPrune())
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

func newLogVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [SESSION…]",
		Short: "Check that logs are as they were written",
		Long: `verify checks the chain of hashes of each log and names every changed, missing or swapped line before the last, and each payload that is not what was stored. It says
"closed" when the session ended in order, and "open at seq n" when it runs or was killed. It cannot tell that whole
lines were cut off the end of an open log, or that all of it was written anew: keep the head it prints elsewhere.
` + exitCodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := logPaths(args)
			if err != nil {
				return err
			}
			changed, incomplete, newer := 0, 0, 0
			for _, path := range paths {
				v, err := verifyLog(cmd.OutOrStdout(), path, asJSON)
				switch {
				case err != nil:
					return exitf(exitFailed, "verify %s: %v", path, err)
				case len(v.PayloadProblems) > 0, v.Tampered():
					changed++
				case v.HasNewer():
					newer++
				case !v.OK():
					incomplete++
				}
			}
			switch {
			case changed > 0:
				return exitf(exitFailed, "%d of %d logs are not as they were written", changed, len(paths))
			case newer > 0:
				return exitf(exitFailed, "%d of %d logs are not all checked: %v", newer, len(paths), persist.ErrNewer)
			case incomplete > 0:
				return exitf(exitFailed, "%d of %d logs lack records: the machine stopped before they were on the disk", incomplete, len(paths))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a log")
	return cmd
}

// verifyResult is the result of verify for one session.
type verifyResult struct {
	Session string `json:"session"`
	persist.Report
	Payloads        int               `json:"payloads"`                  // that records refer to
	Pruned          int               `json:"payloads_pruned,omitempty"` // that were removed to save space
	PayloadProblems []persist.Problem `json:"payload_problems,omitempty"`
}

// verifyLog checks one log and the payloads beside it, and prints what it found.
func verifyLog(out io.Writer, path string, asJSON bool) (v verifyResult, err error) {
	dir := filepath.Dir(path)
	v.Session = filepath.Base(dir)
	err = persist.CheckFormat(path)
	if errors.Is(err, persist.ErrNewer) {
		v.Problems = []persist.Problem{{Kind: persist.Unchecked, Detail: err.Error()}}
		if !asJSON {
			_, err = fmt.Fprintf(out, "%s: not checked: %v\n", v.Session, err)
			return v, err
		}
		return v, printJSONLines(out, []verifyResult{v})
	}
	if err == nil {
		v.Report, err = persist.VerifyFile(path)
	}
	if err != nil {
		return v, err
	}
	if filepath.Base(path) == persist.LogName {
		found, err := persist.VerifyPayloads(dir)
		if err != nil {
			return v, err
		}
		v.Payloads, v.Pruned, v.PayloadProblems = found.Checked, found.Pruned, found.Problems
	}
	if asJSON {
		return v, printJSONLines(out, []verifyResult{v})
	}
	if _, err := fmt.Fprintf(out, "%s: %s", v.Session, v.Report); err != nil {
		return v, err
	}
	if v.Pruned > 0 {
		fmt.Fprintf(out, "%d payloads were pruned to save space: they are not checked\n", v.Pruned)
	}
	for _, p := range v.PayloadProblems {
		fmt.Fprintf(out, "record %d, %s\n", p.Seq, visible.Text(p.String()))
	}
	return v, nil
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

func newLogShow() *cobra.Command {
	var asJSON bool
	var call string
	cmd := &cobra.Command{
		Use:   "show [SESSION]",
		Short: "Show the calls of a session, or everything about one call",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := logPaths(args)
			if err != nil {
				return err
			}
			if err := persist.CheckFormat(paths[0]); err != nil {
				return exitf(exitFailed, "%v", err)
			}
			f, err := os.Open(paths[0])
			if err != nil {
				return exitf(exitFailed, "%v", err)
			}
			defer f.Close()
			return show{out: cmd.OutOrStdout(), json: asJSON, call: call, live: history.Live(paths[0])}.log(f)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print every record, one JSON object a line")
	cmd.Flags().StringVar(&call, "call", "", "show all events of the call with this `id`")
	return cmd
}
