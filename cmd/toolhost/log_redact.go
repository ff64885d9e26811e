package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/persist"
)

func newLogRedact() *cobra.Command {
	var asJSON, fromStdin bool
	var pattern string
	cmd := &cobra.Command{
		Use:   "redact SESSION",
		Short: "Take secrets out of the log and the outputs of an ended session",
		Long: `redact replaces secrets in the records and stored outputs of an ended session, and removes them from sealed files.
Without a flag these are all that toolhost recognizes: use it for logs of older versions, or before a log is given away. The
values of --value-from-stdin come one a line, so that no list of processes shows them.

The records are chained anew. A record tool.x.session.redacted at the end has the number of records before, the old head, and
the changed outputs, but no secret. A signature of the log is removed: sign it again. Copies of the log elsewhere stay as they are.
` + exitCodes,
		Example: `  toolhost log redact ses_01M8 --value-from-stdin < leaked.txt
  toolhost log redact ses_01M8 --pattern 'acme-[0-9]{6}'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var values io.Reader
			if fromStdin {
				values = cmd.InOrStdin()
			}
			redactor, err := policy.TakeOut(pattern, values)
			if err != nil {
				return err
			}
			logs, err := namedLogs(args)
			if err != nil {
				return err
			}
			session := logs[0].Dirs()[0]
			done, err := persist.Rewrite(persist.Options{
				Dir: filepath.Dir(session), ID: agenttool.SessionID(filepath.Base(session)), Redactor: redactor,
			}, !fromStdin && pattern == "")
			if err != nil {
				err = exitf(exitFailed, "redact %s: %v", filepath.Base(session), err)
			}
			if err != nil && done.Secrets == 0 {
				return err
			}
			for _, dir := range logs[0].Dirs() {
				others, _ := filepath.Glob(filepath.Join(dir, persist.LogName+".*")) // the pattern is right
				for _, other := range others {
					fmt.Fprintf(output.Stderr(), "toolhost: %s is no log of this session, and may hold what was taken out: remove it\n", visible.Text(other))
				}
			}
			if asJSON {
				return cmp.Or(err, printJSON(cmd.OutOrStdout(), done))
			}
			return cmp.Or(err, printRewritten(cmd.OutOrStdout(), filepath.Base(session), done))
		},
	}
	cmd.Flags().BoolVar(&fromStdin, "value-from-stdin", false, "take out the values on stdin, one a line")
	cmd.Flags().StringVar(&pattern, "pattern", "", "take out what this regular `expression` matches, or its first group")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printRewritten says what log redact did.
func printRewritten(out io.Writer, session string, done persist.Rewritten) error {
	if done.Secrets == 0 {
		_, err := fmt.Fprintf(out, "%s: nothing found, and nothing changed\n", session)
		return err
	}
	_, err := fmt.Fprintf(out, "%s: took out %d secrets (%s): %d records changed, %d outputs changed\nThe head was %s at %d records. The log is chained anew.\n",
		session, done.Secrets, strings.Join(done.Kinds, ", "), done.Records, len(done.Payloads), done.Head, done.Count)
	return err
}
