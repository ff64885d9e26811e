package engine

import (
	"cmp"
	"time"

	"toolhost/tools/search/match"
	"toolhost/tools/search/tree"
)

// Query describes a search. The zero value of each field except Pattern is useful.
type Query struct {
	Pattern *match.Pattern
	Want    func(dir, name string) bool // selects files; dir is the directory below the root, "" or with a trailing slash. nil: every file

	Encoding string // of every file, a name for encoding.Parse; "": as it is recognised, file by file

	Store         bool // store matching lines, not only count them
	Before, After int  // context lines to store with them; before a match only those within 1 MiB
	Limit         int  // matching lines per file after which the search leaves it; 0: no limit
	Clip          bool // cut lines around their first match, to 500 characters

	Probes func() []Probe // searches to make one after another, until one finds a line, if nothing matches in all files; nil: none
}

// Probe is a search for one line with another pattern.
type Probe struct {
	Pattern *match.Pattern
	Time    time.Duration // after which it is given up
	Share   float64       // of the time that the search took: a probe may take no more, but for leastProbe; 0 is no such bound
}

// leastProbe is enough for a probe of an index, or of a small tree.
const leastProbe = 3 * time.Millisecond

// limit returns how long the probe may take after a search that took some time.
func (p Probe) limit(took time.Duration) time.Duration {
	if p.Share == 0 {
		return p.Time
	}
	return min(p.Time, max(leastProbe, time.Duration(p.Share*float64(took))))
}

// Probed is the line that a probe found.
type Probed struct {
	Probe int    // its index in the query's probes
	Path  string // as in Part
	Line  Line
}

// Line is a line of a result.
type Line struct {
	Number int    // from 1
	Column int    // byte of the first match, from 1; 0: a context line
	Text   []byte // without its end; with Clip valid UTF-8
	Spans  []Span // at most 50 matches
}

// Span is a part of a line's text, in bytes.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Part holds results of one file, or the next part of them. Its Lines are valid only until take returns: a common
// word has a million matching lines, so their memory is reused.
type Part struct {
	File  *tree.File // nil: the root itself
	Path  string     // below the root; "" for the root itself
	Lines []Line     // with Store, in order
	Count int        // matching lines in this part

	first, end int     // of Lines, while they are collected
	before     Summary // of its batch, without this file
}

// Summary counts the work of a search up to its end.
type Summary struct {
	Searched int // files searched by content or ruled out by the index; skipped files are not included
	Skipped  SkipCounts
	Listed   ListCounts
	Binary   string  // path of the first file that Skipped.Binary counts, as in Part
	Probed   *Probed // nil: the search found something, ended early, or no probe found anything in time
}

// SkipCounts counts files that were not searched completely.
type SkipCounts struct {
	Denied     int // their names suggest secrets
	Binary     int // they hold a NUL and are not UTF-16, and the pattern was found
	Unreadable int // files and directories
	Special    int // FIFOs, sockets, devices
	TooLarge   int // a line, or with multiline the file, is above 64 MiB, or a match could take seconds without a chance to interrupt it
}

// ListCounts describes the names that the list left out.
type ListCounts struct {
	Ignored, Hidden int
	Partial         bool // the time ran out before everything was listed
}

// Plus returns the summary of two searches.
func (s Summary) Plus(o Summary) Summary {
	s.add(o)
	s.Listed.Ignored += o.Listed.Ignored
	s.Listed.Hidden += o.Listed.Hidden
	s.Listed.Partial = s.Listed.Partial || o.Listed.Partial
	if s.Probed == nil {
		s.Probed = o.Probed
	}
	return s
}

// add adds what two parts of one search counted.
func (s *Summary) add(o Summary) {
	s.Searched += o.Searched
	s.Skipped.Denied += o.Skipped.Denied
	s.Skipped.Binary += o.Skipped.Binary
	s.Binary = cmp.Or(s.Binary, o.Binary)
	s.Skipped.Unreadable += o.Skipped.Unreadable
	s.Skipped.Special += o.Skipped.Special
	s.Skipped.TooLarge += o.Skipped.TooLarge
}
