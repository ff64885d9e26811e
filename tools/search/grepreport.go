package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toolhost/agenttool"
)

// grepResult is the structured content of grep. One of the three lists is not nil.
type grepResult struct {
	Matches       []grepMatch `json:"matches,omitzero"`
	Files         []string    `json:"files,omitzero"`
	Counts        []grepCount `json:"counts,omitzero"`
	Total         int         `json:"total"` // matching lines with matches, else files
	LowerBound    bool        `json:"total_is_lower_bound"`
	NextOffset    *int        `json:"next_offset,omitempty"`
	FilesSearched int         `json:"files_searched"`
	Skipped       skipped     `json:"skipped"`
	TimedOut      bool        `json:"timed_out"`
}

type grepMatch struct {
	Path       string `json:"path"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Text       string `json:"text"`
	Submatches []span `json:"submatches"`
}

type grepCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// skipped counts what was not searched.
type skipped struct {
	Binary     int `json:"binary"`
	Unreadable int `json:"unreadable"`
	Special    int `json:"special"`
	TooLarge   int `json:"too_large"`
}

// count counts a found name that is no regular file and reports whether it was one.
func (s *skipped) count(k kind) bool {
	switch k {
	case unreadable:
		s.Unreadable++
	case special:
		s.Special++
	}
	return k != regularFile
}

// countError counts a file that could not be searched to its end.
func (s *skipped) countError(err error) {
	switch {
	case errors.Is(err, errBinary):
		s.Binary++
	case errors.Is(err, errTooLarge):
		s.TooLarge++
	case errors.Is(err, errSpecial):
		s.Special++
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		s.Unreadable++
	}
}

// grepReport collects the results of one search, file by file in order.
type grepReport struct {
	input    grepInput
	naming   naming
	page     page
	end      end
	result   grepResult
	skipped  *skipped
	text     strings.Builder
	aside    int    // bytes of context lines in text
	lastPath string // of the last line in text, and its number
	lastLine int
	omitted  int // names that ignore files and dots left out
	unlisted int
}

func newGrepReport(input grepInput, names naming) *grepReport {
	r := &grepReport{input: input, naming: names, page: page{offset: input.Offset, limit: input.Limit}}
	r.skipped = &r.result.Skipped
	switch input.OutputMode {
	case filesMode:
		r.result.Files = []string{}
	case countMode:
		r.result.Counts = []grepCount{}
	default:
		r.result.Matches = []grepMatch{}
	}
	return r
}

// add adds the result for a file; skip of its lines were counted and not stored. It reports whether there is room for
// more.
func (r *grepReport) add(below string, out scanned, skip int) bool {
	if out.err != nil {
		r.skipped.countError(out.err)
	} else {
		r.result.FilesSearched++
	}
	if out.lines == 0 {
		return true
	}
	path := r.naming.path(below)
	if r.input.OutputMode != contentMode {
		r.addFile(path, out.lines)
		return !r.page.full
	}
	total := r.page.total + out.lines
	r.page.total += min(skip, out.lines)
	if total > r.page.offset {
		r.addLines(path, out.stored)
	}
	r.page.total = total
	return r.page.next() == nil
}

func (r *grepReport) addFile(path string, lines int) {
	name := encodable(path)
	r.page.text = r.text.Len()
	if !r.page.place(2*jsonSize(name) + 30) {
		return
	}
	if r.input.OutputMode == filesMode {
		r.result.Files = append(r.result.Files, name)
		fmt.Fprintln(&r.text, printable(path))
		return
	}
	r.result.Counts = append(r.result.Counts, grepCount{name, lines})
	fmt.Fprintf(&r.text, "%s:%d\n", printable(path), lines)
}

// addLines adds lines of one file until the page is full.
func (r *grepReport) addLines(path string, lines []shownLine) {
	name, spelt := encodable(path), printable(path)
	pathSize := jsonSize(spelt) + 20
	for _, line := range lines {
		size := jsonSize(line.text) + pathSize
		if line.column == 0 {
			if r.aside += size; r.aside <= maxPageContext {
				r.write(spelt, line, '-')
			}
			continue
		}
		r.page.text = r.text.Len()
		if !r.page.place(2*size + 40*len(line.spans) + 60) {
			return
		}
		r.write(spelt, line, ':')
		match := grepMatch{Path: name, Line: line.number, Column: line.column, Text: line.text, Submatches: line.spans}
		r.result.Matches = append(r.result.Matches, match)
	}
}

// write writes a line, after a separator if context was asked and there is a gap before it.
func (r *grepReport) write(path string, line shownLine, mark byte) {
	gap := r.lastPath != path || line.number != r.lastLine+1
	if gap && r.lastLine > 0 && r.input.Before+r.input.After > 0 {
		r.text.WriteString("--\n")
	}
	r.lastPath, r.lastLine = path, line.number
	fmt.Fprintf(&r.text, "%s%c%d%c%s\n", path, mark, line.number, mark, line.text)
}

// output returns the report.
func (r *grepReport) output() agenttool.Output {
	r.result.Total, r.result.NextOffset = r.page.total, r.page.next()
	r.result.LowerBound = r.end.incomplete()
	r.result.TimedOut = r.end.timedOut
	what := "matching lines"
	if r.input.OutputMode != contentMode {
		what = "files"
	}
	var n notes
	n.paging(&r.page, r.end, what)
	if r.aside > maxPageContext {
		n.add("context lines were left out: ask for fewer")
	}
	n.ending(r.end, "narrow it with path, glob or type")
	n.list("skipped", amount{r.skipped.Binary, "binary"}, amount{r.skipped.Unreadable, "unreadable"},
		amount{r.skipped.Special, specials}, amount{r.skipped.TooLarge, "too large to search to its end"})
	if r.page.total == 0 {
		fmt.Fprintf(&r.text, "No matches. Searched %s in %s.\n", plural(r.result.FilesSearched, "file"), r.naming.where())
		n.leftOut(r.omitted, r.unlisted)
	}
	r.text.WriteString(n.String())
	return agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(r.text.String())},
		Structured: r.result,
		Summary:    r.summary(),
	}
}

func (r *grepReport) summary() string {
	at := ""
	if r.result.LowerBound {
		at = "at least "
	}
	if r.input.OutputMode != contentMode {
		return at + plural(r.page.total, "file") + " with matches"
	}
	return fmt.Sprintf("%s%s, %s searched", at, plural(r.page.total, "matching line"), plural(r.result.FilesSearched, "file"))
}
