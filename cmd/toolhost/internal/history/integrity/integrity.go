// Package integrity checks that logs are as they were written, and signs them with SSH keys.
package integrity

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/persist"
)

// Report is the result for a log and the payloads beside it.
type Report struct {
	Session string `json:"session"`
	persist.Report
	Payloads        int               `json:"payloads"`                  // that records refer to
	Pruned          int               `json:"payloads_pruned,omitempty"` // that were removed to save space
	PayloadProblems []persist.Problem `json:"payload_problems,omitempty"`

	Signed           int64  `json:"signed_records,omitempty"` // with a key
	SignatureProblem string `json:"signature_problem,omitempty"`

	newer    error // why nothing was checked
	payloads persist.Payloads
}

// Verify checks the log at path and the payloads beside it, and its signature by a public key unless that is "".
func Verify(path, key string) (r Report, err error) {
	r.Session = history.Session(path)
	err = persist.CheckFormat(path)
	if errors.Is(err, persist.ErrNewer) {
		r.newer, r.Problems = err, []persist.Problem{{Kind: persist.Unchecked, Detail: err.Error()}}
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if filepath.Base(path) == persist.LogName {
		r.Report, r.payloads, err = persist.VerifySession(filepath.Dir(path))
		r.Payloads, r.Pruned, r.PayloadProblems = r.payloads.Checked, r.payloads.Pruned, r.payloads.Problems
	} else {
		r.Report, err = persist.VerifyFile(path)
	}
	if err != nil || key == "" {
		return r, err
	}
	if r.Signed, err = checkSigned(path, key); err != nil {
		r.SignatureProblem = err.Error()
	}
	return r, nil
}

// Tampered reports whether a line or a payload was changed after it was written.
func (r Report) Tampered() bool { return r.Report.Tampered() || r.payloads.Tampered() }

// Incomplete reports whether a line or a payload is not whole.
func (r Report) Incomplete() bool { return !r.OK() || len(r.PayloadProblems) > 0 }

// Print prints the report.
func (r Report) Print(out io.Writer) error {
	if r.newer != nil {
		_, err := fmt.Fprintf(out, "%s: not checked: %v\n", r.Session, r.newer)
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %s", r.Session, r.Report); err != nil {
		return err
	}
	if r.Pruned > 0 {
		fmt.Fprintf(out, "%d payloads were pruned to save space: they are not checked\n", r.Pruned)
	}
	for _, p := range r.PayloadProblems {
		fmt.Fprintf(out, "record %d, %s\n", p.Seq, visible.Text(p.String()))
	}
	switch {
	case r.SignatureProblem != "":
		fmt.Fprintf(out, "signature NOT ok: %s\n", r.SignatureProblem)
	case r.Signed > 0:
		fmt.Fprintf(out, "signature ok: it covers %d of %d records\n", r.Signed, r.Last)
	}
	return nil
}
