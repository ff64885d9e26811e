package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
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
			paths, err := logPaths(args)
			if err != nil {
				return err
			}
			if key != "" {
				if _, err := publicKey(key); err != nil {
					return exitf(exitUsage, "--key: %v", err)
				}
			}
			changed, unsigned, incomplete, newer := 0, 0, 0, 0
			for _, path := range paths {
				v, err := verifyLog(cmd.OutOrStdout(), path, key, asJSON)
				switch {
				case err != nil:
					return exitf(exitFailed, "verify %s: %v", path, err)
				case len(v.PayloadProblems) > 0, v.Tampered():
					changed++
				case v.SignatureProblem != "":
					unsigned++
				case v.HasNewer():
					newer++
				case !v.OK():
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
				return exitf(exitFailed, "%d of %d logs lack records: the machine stopped before they were on the disk", incomplete, len(paths))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a log")
	cmd.Flags().StringVar(&key, "key", "", "public SSH key `file`: check that the log is signed with it")
	return cmd
}

// verifyResult is the result of verify for one session.
type verifyResult struct {
	Session string `json:"session"`
	persist.Report
	Payloads        int               `json:"payloads"`                  // that records refer to
	Pruned          int               `json:"payloads_pruned,omitempty"` // that were removed to save space
	PayloadProblems []persist.Problem `json:"payload_problems,omitempty"`

	Signed           int64  `json:"signed_records,omitempty"` // with --key
	SignatureProblem string `json:"signature_problem,omitempty"`
}

// verifyLog checks one log and the payloads beside it, and prints what it found.
func verifyLog(out io.Writer, path, key string, asJSON bool) (v verifyResult, err error) {
	dir := filepath.Dir(path)
	v.Session = filepath.Base(dir)
	err = persist.CheckFormat(path)
	if errors.Is(err, persist.ErrNewer) {
		v.Problems = []persist.Problem{{Kind: persist.Unchecked, Detail: err.Error()}}
		if !asJSON {
			_, err = fmt.Fprintf(out, "%s: not checked: %v\n", v.Session, err)
			return v, err
		}
		return v, printJSON(out, v)
	}
	if err != nil {
		return v, err
	}
	if filepath.Base(path) == persist.LogName {
		var found persist.Payloads
		v.Report, found, err = persist.VerifySession(dir)
		v.Payloads, v.Pruned, v.PayloadProblems = found.Checked, found.Pruned, found.Problems
	} else {
		v.Report, err = persist.VerifyFile(path)
	}
	if err != nil {
		return v, err
	}
	if key != "" {
		if v.Signed, err = verifySignature(path, key); err != nil {
			v.SignatureProblem = err.Error()
		}
	}
	if asJSON {
		return v, printJSON(out, v)
	}
	return v, v.print(out)
}

// print prints what was found, for people.
func (v verifyResult) print(out io.Writer) error {
	if _, err := fmt.Fprintf(out, "%s: %s", v.Session, v.Report); err != nil {
		return err
	}
	if v.Pruned > 0 {
		fmt.Fprintf(out, "%d payloads were pruned to save space: they are not checked\n", v.Pruned)
	}
	for _, p := range v.PayloadProblems {
		fmt.Fprintf(out, "record %d, %s\n", p.Seq, visible.Text(p.String()))
	}
	switch {
	case v.SignatureProblem != "":
		fmt.Fprintf(out, "signature NOT ok: %s\n", v.SignatureProblem)
	case v.Signed > 0:
		fmt.Fprintf(out, "signature ok: it covers %d of %d records\n", v.Signed, v.Last)
	}
	return nil
}
