package engine

import (
	"toolhost/tools/search/match"
	"toolhost/tools/search/tree"
)

// Query says what is searched for in files. The zero value of each field but Pattern is useful.
type Query struct {
	Pattern *match.Pattern
	Want    func(dir, name string) bool // whether a file is searched; dir is its directory below the root, "" or with a slash at its end. nil: every file is

	Store         bool // matching lines are wanted, not only their number
	Before, After int  // context lines that are stored with them; before a match only those within 1 MiB
	Limit         int  // matching lines after which a file is left; 0: none
	Clip          bool // lines are cut around their first match, to 500 characters
}

// Line is a line as it is shown.
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

// Part is what was found in a file, or the next part of that. Its Lines are the taker's only until it returns: a common
// word has a million lines, and their memory serves for the next ones.
type Part struct {
	File  *tree.File // nil: the root itself
	Path  string     // below the root; "" for the root itself
	Lines []Line     // with Store, in order
	Count int        // matching lines in this part

	first, end int     // of Lines, while they are collected
	before     Summary // of its batch, without the file
}

// Summary says what a search did, up to where it was ended.
type Summary struct {
	Searched int // files, by content or by index; those that were skipped are not among them
	Skipped  Skipped
	Listed   Listed
}

// Skipped counts files that were not searched to their end.
type Skipped struct {
	Denied     int // their names say that they hold secrets
	Binary     int // there is a NUL in the first 64 KiB, and the pattern in the first 256
	Unreadable int // and directories
	Special    int // FIFOs, sockets, devices
	TooLarge   int // a line, or with multiline the file, above 64 MiB, or what one match, which cannot be interrupted, could take seconds for
}

// Listed says what the list of the tree left out.
type Listed struct {
	Ignored, Hidden int
	Partial         bool // the time was over before everything was listed
}

func (s *Summary) add(o Summary) {
	s.Searched += o.Searched
	s.Skipped.Denied += o.Skipped.Denied
	s.Skipped.Binary += o.Skipped.Binary
	s.Skipped.Unreadable += o.Skipped.Unreadable
	s.Skipped.Special += o.Skipped.Special
	s.Skipped.TooLarge += o.Skipped.TooLarge
}
