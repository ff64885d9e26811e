package files

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
)

// The error for an ambiguous string counts up to maxCounted matches, names the lines of the first maxPlaces, and shows a line beside the
// first maxBeside.
const (
	maxPlaces   = 10
	maxCounted  = 1000
	maxBeside   = 3
	besideBytes = 240 // of a line
)

// pattern is a string to search for in a text.
type pattern []byte

// next returns the first match of the pattern in text at or after from, or -1. A match must not begin between the CR
// and the LF of a CRLF.
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

// apply returns text after the edit, and the number of replacements. text is the content of was, after the edits before this one. splicer
// makes the same changes of its bytes; it is nil if the bytes are the text. Errors are of class invalid_arguments.
//
// It searches for the string as given. If that does not match, and the text has CRLF (or only CR) and the string only
// LF, it searches with the text's line endings.
func (e replacement) apply(ctx context.Context, text []byte, was *document, splicer *encoding.Splicer) ([]byte, int, error) {
	f := was.form
	wanted, replaced := pattern(e.OldString), newNewlines(e, f, text)
	first := wanted.next(text, 0)
	if foreign := f.foreignNewline(); first < 0 && foreign != "" && onlyLF(e.OldString) {
		wanted = pattern(strings.ReplaceAll(e.OldString, "\n", foreign))
		replaced = fixedNewline(foreign)
		first = wanted.next(text, 0)
	}
	if first < 0 {
		return nil, 0, noMatch(text, e, f)
	}
	if !e.ReplaceAll && wanted.next(text, first+1) >= 0 {
		return nil, 0, manyMatches(text, wanted, f.terminator())
	}
	var out []byte
	count, copied := 0, 0
	for at := first; at >= 0; at = wanted.next(text, copied) {
		end := at + len(wanted)
		out = append(out, text[copied:at]...)
		fitted := replaced.fit(e.NewString, at, end)
		out = append(out, fitted...)
		copied = end
		if count++; int64(len(out)) > was.limit {
			return nil, 0, tooLarge("the edited file", int64(len(out)), was.limit)
		}
		if count%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if splicer != nil {
			if err := splicer.Change(encoding.Change{Start: at, End: end, Text: fitted}); err != nil {
				return nil, 0, unsafeChange(err)
			}
		}
		if !e.ReplaceAll {
			break
		}
	}
	return append(out, text[copied:]...), count, nil
}

// onlyLF reports whether s has LF line endings and no others.
func onlyLF(s string) bool { return strings.Contains(s, "\n") && !strings.Contains(s, "\r") }

// foreignNewline returns the line ending other than LF that the LF of a string may match; empty if there is none.
func (f form) foreignNewline() string {
	switch {
	case f.crlf > 0:
		return "\r\n"
	case f.cr > 0 && f.lf == 0:
		return "\r"
	}
	return ""
}

// newlines chooses the line ending for each LF of a replacement.
type newlines struct {
	fixed string // used for all of them
	text  []byte // else use the line ending at the same place in this text
	at    int    // position of the next LF in text, if known
}

func fixedNewline(s string) *newlines { return &newlines{fixed: s} }

// newNewlines returns the rule for strings that occur in text as given. A string with its own line endings, or a
// replacement with CR, fixes the line endings.
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

// fit returns s with the line endings that fit the place of a match.
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

// near returns the ending of the line that contains end; in the last line, the ending before start.
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

// noMatch returns the error for a missing old_string, with what differs at the most similar place.
func noMatch(text []byte, e replacement, f form) error {
	newline := f.foreignNewline()
	if newline == "" {
		newline = "\n"
	}
	message := "old_string was not found (0 matches)"
	if m, ok := explain(text, e.OldString, e.NewString, "old_string", newline, false); ok {
		message += "\n" + m.message("old_string")
	} else {
		message += ": read the file again and copy the text as it is"
	}
	return agenttool.Failure(agenttool.InvalidArguments, "no_match", message).In("/old_string")
}

// manyMatches returns the error for an ambiguous string, with the places of its matches and, if it tells the first ones apart, the line above
// or below each.
func manyMatches(text []byte, p pattern, terminator byte) error {
	found, line, counted := 0, 1, 0
	var places, above, below []string
	for at := p.next(text, 0); at >= 0 && found < maxCounted; at = p.next(text, at+1) {
		if found++; len(places) < maxPlaces {
			line += bytes.Count(text[counted:at], []byte{terminator})
			counted = at
			places = append(places, fmt.Sprint(line))
		}
		if len(above) < maxBeside {
			above = append(above, lineAbove(text, at, terminator))
			below = append(below, lineBelow(text, at+len(p), terminator))
		}
	}
	if found > maxPlaces {
		places = append(places, "…")
	}
	times := count.Thousands(found)
	if found == maxCounted {
		times = "at least " + times
	}
	message := fmt.Sprintf("old_string was found %s times (lines %s): add lines around it until it is unique, or set replace_all",
		times, strings.Join(places, ", "))
	beside, where := above, "above"
	if !distinct(above) {
		beside, where = below, "below"
	}
	if distinct(beside) {
		for i, line := range beside {
			message += fmt.Sprintf("\n%s line %s: %s", where, places[i], clip(line))
		}
	}
	return agenttool.Failure(agenttool.InvalidArguments, "many_matches", message).In("/old_string")
}

// lineAbove returns the end of the line above the one that an offset is in.
func lineAbove(text []byte, at int, terminator byte) string {
	end := bytes.LastIndexByte(text[:at], terminator)
	if end < 0 {
		return ""
	}
	begin := max(bytes.LastIndexByte(text[:end], terminator)+1, end-besideBytes)
	return strings.ToValidUTF8(strings.TrimSuffix(string(text[begin:end]), "\r"), "")
}

// lineBelow returns the beginning of the line below the one that ends a match at an offset.
func lineBelow(text []byte, at int, terminator byte) string {
	begin := bytes.IndexByte(text[max(at-1, 0):], terminator) + max(at-1, 0) + 1
	if begin <= max(at-1, 0) {
		return ""
	}
	line, _, _ := bytes.Cut(text[begin:min(len(text), begin+besideBytes)], []byte{terminator})
	return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "")
}

// distinct reports whether all lines hold something and no two are the same.
func distinct(lines []string) bool {
	for i, line := range lines {
		if strings.TrimSpace(line) == "" || slices.Contains(lines[:i], line) {
			return false
		}
	}
	return true
}

// replacement is one edit.
type replacement struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}
