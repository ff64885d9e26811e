package persist

import (
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// ProblemKind is the kind of a line's problem.
type ProblemKind string

// The kinds of problem.
const (
	Changed    ProblemKind = "changed"
	Missing    ProblemKind = "missing"
	Swapped    ProblemKind = "swapped" // with its neighbour
	Misplaced  ProblemKind = "misplaced"
	Duplicate  ProblemKind = "duplicate"
	Unparsable ProblemKind = "unparsable"
	Unwritten  ProblemKind = "unwritten" // the machine stopped before it reached the disk
	Added      ProblemKind = "added"     // after the session had left this log, since it was broken
	Unchecked  ProblemKind = "unchecked" // a newer version of toolhost wrote it, and only that version can check it: Line and To are its place
)

// Problem is one problem of a journal.
type Problem struct {
	Kind   ProblemKind `json:"kind"`
	Seq    int64       `json:"seq"`            // of the line; for an unparsable one, the expected number
	To     int64       `json:"to,omitempty"`   // last of the lines, when there are several
	Line   int64       `json:"line,omitempty"` // place in the file, from 1; 0 for a missing line
	Detail string      `json:"detail"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Kind, p.Detail)
	}
	return fmt.Sprintf("line %d of the file, %s: %s", p.Line, p.Kind, p.Detail)
}

// maxProblems bounds a report; further problems are only counted.
const maxProblems = 1000

// Report is the result of Verify.
type Report struct {
	Records      int64     `json:"records"`              // whole lines that are records
	Last         int64     `json:"last"`                 // sequence number of the last of them; 0: none
	Head         string    `json:"head,omitempty"`       // hash of the last of them, hexadecimal
	Closed       bool      `json:"closed"`               // the last record is a closing record, and its data is right
	TornBytes    int64     `json:"torn_bytes,omitempty"` // after the last whole line, or NUL at the end: not a problem
	Problems     []Problem `json:"problems,omitempty"`
	MoreProblems int64     `json:"more_problems,omitempty"` // number of problems that are not listed

	Redactions []Rewritten `json:"redactions,omitempty"` // the times when secrets were taken out of the log, and it was chained anew

	// Of a session that has several logs, since one was not left as it was written.
	Continues   *Break              `json:"continues,omitempty"`    // the log before this one
	Before      string              `json:"before,omitempty"`       // the file that has the lines before
	ContinuedIn agenttool.SessionID `json:"continued_in,omitempty"` // the log after this one
	Broken      *Break              `json:"broken,omitempty"`       // what that log says of this one
	Copy        bool                `json:"copy,omitempty"`         // this is another file than the session wrote

	halfRedacted bool // secrets were taken out of one of two logs that belong together, and then that was interrupted

	id agenttool.SessionID // of the session, as its first record says
}

// was reports whether a log ended, or ended before secrets were taken out of it, as the next part says.
func (r Report) was(b Break) bool {
	ended := func(d Rewritten) bool { return d.Count == b.Count && d.Head == b.Head }
	return ended(Rewritten{Count: r.Last, Head: r.Head}) || slices.ContainsFunc(r.Redactions, ended)
}

// OK reports whether there are no problems.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// OnlyUnwritten reports whether the only problem is that the machine stopped before some records reached the disk.
func (r Report) OnlyUnwritten() bool {
	return !r.OK() && r.MoreProblems == 0 && !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind != Unwritten })
}

// Tampered reports whether a line was changed after it was written.
func (r Report) Tampered() bool {
	return r.MoreProblems > 0 || slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind != Unwritten && p.Kind != Unchecked })
}

// HasNewer reports whether a newer version of toolhost wrote lines that were not checked.
func (r Report) HasNewer() bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind == Unchecked })
}

// addNewer records that a line was not checked, joined with the lines just before it.
func (r *Report) addNewer(line int64) {
	p := Problem{Kind: Unchecked, Line: line, To: line}
	same := func(q Problem) bool { return q.Kind == Unchecked && q.To == line-1 }
	if i := slices.IndexFunc(r.Problems, same); i >= 0 {
		p.Line = r.Problems[i].Line
		r.Problems = slices.Delete(r.Problems, i, i+1)
	}
	p.Detail = "a newer version of toolhost wrote it, in a format that this version does not know: its content was not checked"
	if p.To > p.Line {
		p.Detail = fmt.Sprintf("a newer version of toolhost wrote lines %d to %d, in a format that this version does not know: their content was not checked", p.Line, p.To)
	}
	r.add(p)
}

func (r *Report) add(p Problem) {
	if len(r.Problems) == maxProblems {
		r.MoreProblems++
		return
	}
	r.Problems = append(r.Problems, p)
}

// String describes the result for a terminal, in one or more lines that end with a line feed.
func (r Report) String() string {
	var b strings.Builder
	verdict := "ok"
	switch {
	case r.OnlyUnwritten():
		verdict = "incomplete"
	case r.Tampered():
		verdict = fmt.Sprintf("NOT ok, %d problems", int64(len(r.Problems))+r.MoreProblems)
	case r.HasNewer():
		verdict = "not all checked"
	}
	state := fmt.Sprintf("open at seq %d", r.Last)
	if r.Closed {
		state = "closed"
	}
	fmt.Fprintf(&b, "%s: %d records, %s\n", verdict, r.Records, state)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	if r.MoreProblems > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.MoreProblems)
	}
	for _, d := range r.Redactions {
		fmt.Fprintf(&b, "%d secrets were taken out afterwards; before, it had %d records and the head %s\n", d.Secrets, d.Count, d.Head)
	}
	for _, line := range r.about() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	if r.TornBytes > 0 {
		fmt.Fprintf(&b, "torn tail, %d bytes: a line that was being written when the process ended\n", r.TornBytes)
	}
	if r.Head != "" {
		fmt.Fprintf(&b, "head %s\n", r.Head)
	}
	b.WriteString("A file that was written anew, or cut at a line, looks right: compare the head with one kept elsewhere.\n")
	return b.String()
}

// Rewritten is the result of Rewrite, and the data of the record that it adds to the log. It names no secret.
type Rewritten struct {
	Records  int      `json:"records_changed"`
	Secrets  int      `json:"secrets"`
	Kinds    []string `json:"kinds,omitempty"`
	Payloads []string `json:"payloads_changed,omitempty"`
	Count    int64    `json:"previous_count"` // of the log as it was, with the hash of its last line
	Head     string   `json:"previous_head"`
}
