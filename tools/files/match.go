package files

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"toolhost/agenttool"
)

// The error for an ambiguous string counts up to maxCounted matches and names the lines of the first maxPlaces.
const (
	maxPlaces  = 10
	maxCounted = 1000
)

// pattern is a string as it is looked for in one text.
type pattern []byte

// next returns the first place of the pattern in text at or after from, -1 if there is none. A place between the CR and
// the LF of a CRLF is none.
func (p pattern) next(text []byte, from int) int {
	for from <= len(text) {
		at := bytes.Index(text[from:], p)
		if at < 0 {
			return -1
		}
		at += from
		if p[0] != '\n' || at == 0 || text[at-1] != '\r' {
			return at
		}
		from = at + 1
	}
	return -1
}

// apply returns text with the edit made, and the number of replacements. The text is that of the document, or was it before
// the edits that came first. Errors are of class invalid_arguments.
//
// The string is looked for as it is. If that finds nothing, and the text has CRLF (or only CR) and the string only LF,
// it is looked for with the text's line endings.
func (e replacement) apply(ctx context.Context, text []byte, was *document) ([]byte, int, error) {
	f := was.form
	wanted, replaced := pattern(e.OldString), newNewlines(e, f, text)
	first := wanted.next(text, 0)
	if foreign := f.foreignNewline(); first < 0 && foreign != "" && onlyLF(e.OldString) {
		wanted = pattern(strings.ReplaceAll(e.OldString, "\n", foreign))
		replaced = fixedNewline(foreign)
		first = wanted.next(text, 0)
	}
	if first < 0 {
		return nil, 0, noMatch(text, e.OldString, f.terminator())
	}
	if !e.ReplaceAll && wanted.next(text, first+1) >= 0 {
		return nil, 0, manyMatches(text, wanted, f.terminator())
	}
	var out []byte
	count, copied := 0, 0
	for at := first; at >= 0; at = wanted.next(text, copied) {
		end := at + len(wanted)
		out = append(out, text[copied:at]...)
		out = append(out, replaced.fit(e.NewString, at, end)...)
		copied = end
		if count++; int64(len(out)) > was.limit {
			return nil, 0, tooLarge("the edited file", int64(len(out)), was.limit)
		}
		if count%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if !e.ReplaceAll {
			break
		}
	}
	return append(out, text[copied:]...), count, nil
}

// onlyLF reports whether s has LF for line ending and nothing else.
func onlyLF(s string) bool { return strings.Contains(s, "\n") && !strings.Contains(s, "\r") }

// foreignNewline is the line ending other than LF that strings with LF may stand for; empty if there is none.
func (f form) foreignNewline() string {
	switch {
	case f.crlf > 0:
		return "\r\n"
	case f.cr > 0 && f.lf == 0:
		return "\r"
	}
	return ""
}

// newlines decides which line ending the LF of a replacement becomes.
type newlines struct {
	fixed string // for all of them
	text  []byte // for each the ending of its place in here instead
	at    int    // where the next LF in text is, if that is behind the place
}

func fixedNewline(s string) *newlines { return &newlines{fixed: s} }

// newNewlines returns the rule for strings that were found in text as they are. A string with line endings of its own
// has shown which ones are meant; so has a replacement with CR.
func newNewlines(e replacement, f form, text []byte) *newlines {
	if strings.ContainsAny(e.OldString, "\r\n") || !onlyLF(e.NewString) {
		return fixedNewline("\n")
	}
	if f.lineEnding() == "mixed" && f.crlf > 0 {
		return &newlines{text: text, at: -1}
	}
	if foreign := f.foreignNewline(); foreign != "" {
		return fixedNewline(foreign)
	}
	return fixedNewline("\n")
}

// fit returns s with the line endings that belong where a match stands.
func (n *newlines) fit(s string, start, end int) string {
	newline := n.fixed
	if newline == "" {
		newline = n.near(start, end)
	}
	if newline == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", newline)
}

// near returns the ending of the line that end is in, or of the one before start in the last line.
func (n *newlines) near(start, end int) string {
	if n.at < end {
		n.at = len(n.text)
		if i := bytes.IndexByte(n.text[end:], '\n'); i >= 0 {
			n.at = end + i
		}
	}
	at := n.at
	if at == len(n.text) {
		at = bytes.LastIndexByte(n.text[:start], '\n')
	}
	if at > 0 && n.text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// noMatch says that old is not there, and what is there that resembles it.
func noMatch(text []byte, old string, terminator byte) error {
	message := "old_string was not found (0 matches)"
	if near, ok := nearest(text, old, terminator); ok {
		message += fmt.Sprintf("; the nearest line is %d: %q", near.number, near.line)
		if near.spaces {
			message += " (its first line is there: compare white space and the lines that follow)"
		}
	}
	e := agenttool.Failure(agenttool.InvalidArguments, "no_match", message)
	e.Pointer = "/old_string"
	return e
}

// manyMatches says where else the pattern stands.
func manyMatches(text []byte, p pattern, terminator byte) error {
	count, line, counted := 0, 1, 0
	var places []string
	for at := p.next(text, 0); at >= 0 && count < maxCounted; at = p.next(text, at+1) {
		if count++; len(places) < maxPlaces {
			line += bytes.Count(text[counted:at], []byte{terminator})
			counted = at
			places = append(places, fmt.Sprint(line))
		}
	}
	if count > maxPlaces {
		places = append(places, "…")
	}
	times := grouped(int64(count))
	if count == maxCounted {
		times = "at least " + times
	}
	e := agenttool.Failure(agenttool.InvalidArguments, "many_matches", fmt.Sprintf(
		"old_string was found %s times (lines %s): add lines around it until it is unique, or set replace_all",
		times, strings.Join(places, ", ")))
	e.Pointer = "/old_string"
	return e
}
