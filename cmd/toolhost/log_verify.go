package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/history/integrity"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/persist"
)

func newLogVerify() *cobra.Command {
	var asJSON bool
	var key string
	cmd := &cobra.Command{
		Use:   "verify [SESSION…]",
		Short: "Check that logs are as they were written",
		Long: `verify checks the chain of hashes of each log and names every changed, missing or swapped line before the last, and each payload that is not what was stored. It says
"closed" when the session ended in order, and "open at seq n" when it runs or was killed. It cannot tell that whole
lines were cut off the end of an open log, or that all of it was written anew: keep the head it prints elsewhere, or sign it with
toolhost log sign and check with --key.
` + exitCodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			logs, err := namedLogs(args)
			if err != nil {
				return err
			}
			if key != "" {
				if _, err := integrity.PublicKey(key); err != nil {
					return exitf(exitUsage, "--key: %v", err)
				}
			}
			var paths, keys []string
			for _, log := range logs {
				paths = append(paths, log.Places()...)
				keys = append(keys, make([]string, len(log.Places())-1)...) // the hash of the last record is that of all before it, in any part
				keys = append(keys, key)
			}
			changed, unsigned, incomplete, newer := 0, 0, 0, 0
			for i, path := range paths {
				v, err := integrity.Verify(path, keys[i])
				if err == nil && asJSON {
					err = output.JSON(cmd.OutOrStdout(), v)
				} else if err == nil {
					err = v.Print(cmd.OutOrStdout())
				}
				switch {
				case err != nil:
					return exitf(exitFailed, "verify %s: %v", path, err)
				case v.Tampered():
					changed++
				case v.SignatureProblem != "":
					unsigned++
				case v.HasNewer():
					newer++
				case v.Incomplete():
					incomplete++
				}
			}
			switch {
			case changed > 0:
				return exitf(exitFailed, "%d of %d logs are not as they were written", changed, len(paths))
			case unsigned > 0:
				return exitf(exitFailed, "%d of %d logs have no valid signature by %s", unsigned, len(paths), key)
			case newer > 0:
				return exitf(exitFailed, "%d of %d logs are not all checked: %v", newer, len(paths), persist.ErrNewer)
			case incomplete > 0:
				return exitf(exitFailed, "%d of %d logs lack records or outputs: the machine stopped before they were on the disk", incomplete, len(paths))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a log")
	cmd.Flags().StringVar(&key, "key", "", "public SSH key `file`: check that the log is signed with it")
	return cmd
}

func newLogSign() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "sign [SESSION]",
		Short: "Sign the number of records and the head of a log with an SSH key",
		Long: `sign checks a log and signs the number of its records and the hash of the last one with an SSH key, by ssh-keygen. The signature stands
beside the log, in log.sig; toolhost log verify --key checks it. Records that follow are not signed until sign runs again.
` + exitCodes,
		Example: `  toolhost log sign --key ~/.ssh/id_ed25519
  toolhost log verify --key ~/.ssh/id_ed25519.pub`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return errors.New("give the key: toolhost log sign --key ~/.ssh/id_ed25519")
			}
			logs, err := namedLogs(args)
			if err != nil {
				return err
			}
			places := logs[0].Places()
			path := places[len(places)-1] // its head stands for all parts before
			text, file, err := integrity.Sign(path, key)
			if err != nil {
				return exitf(exitFailed, "sign %s: %v", path, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "signed in %s:\n%s", file, text)
			return err
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "private SSH key `file`; a public one if an agent holds the private one")
	return cmd
}
