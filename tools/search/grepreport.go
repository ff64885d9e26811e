package search

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/match"
	"toolhost/tools/seen"
)

// grepResult is the structured content of grep.
type grepResult struct {
	grepFound
	Total         int        `json:"total"` // matching lines if Matches is set, else files
	LowerBound    bool       `json:"total_is_lower_bound"`
	NextOffset    *int       `json:"next_offset,omitempty"`
	FilesSearched int        `json:"files_searched"`
	Skipped       skipCounts `json:"skipped"`
	TimedOut      bool       `json:"timed_out"`
}

// grepFound has the results in one of three forms: one of the lists is not nil.
type grepFound struct {
	Matches []grepMatch `json:"matches,omitzero"`
	Files   []string    `json:"files,omitzero"`
	Counts  []grepCount `json:"counts,omitzero"`
}

type grepMatch struct {
	Path       string        `json:"path"`
	Line       int           `json:"line"`
	Column     int           `json:"column"`
	Text       string        `json:"text"`
	Submatches []engine.Span `json:"submatches"`
}

type grepCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// skipCounts counts the files that were not searched.
type skipCounts struct {
	Denied     int `json:"denied"`
	Binary     int `json:"binary"`
	Unreadable int `json:"unreadable"`
	Special    int `json:"special"`
	TooLarge   int `json:"too_large"`
}

// grepReport collects the results of one search, file by file in order.
type grepReport struct {
	input   grepInput
	naming  naming
	page    page
	end     end
	result  grepResult
	text    strings.Builder
	read    *match.Reading // how the pattern was read; nil: as it is
	offer   *offer         // what would have matched
	misread string         // a remark on the glob
	near    string         // which names the glob would match in another spelling
	link    string         // a remark on a link that the glob matches
	missing []string       // the paths that patterns name, if none of them exists
	below   bool           // a pattern begins with a slash and is not absolute

	printed []printedLines
	contextLines
	location
}

// printedLines are consecutive lines of a file in the text.
type printedLines struct {
	path  string // resolved
	first int
	lines []string
}

// location is how far a report is.
type location struct {
	path     string // of the current file
	resolved string // the same, absolute and without links
	match    int    // number of the last matching line on the page, in that file
	lastPath string // of the last line in text
	lastLine int    // its number; 0: no line yet
}

// contextLines is about the lines around matches.
type contextLines struct {
	aside  int     // bytes of context lines in text
	cut    int     // number of the first line in text that was clipped; 0: none
	before []aside // context lines that may belong to the next match
}

func newGrepReport(input grepInput, names naming, room agenttool.Capacity) *grepReport {
	r := &grepReport{input: input, naming: names, page: newPage(input.Offset, input.Limit, room)}
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

// add adds the results of a file, and reports whether there is room for more.
func (r *grepReport) add(path, resolved string, p engine.Part) bool {
	r.resolved = resolved
	if r.input.OutputMode != contentMode {
		r.addFile(path, p.Count)
	} else {
		r.addLines(path, p.Lines)
	}
	return !r.page.full
}

func (r *grepReport) addFile(path string, lines int) {
	name := agenttool.SpellPath(path)
	r.page.used.text = r.text.Len()
	if !r.page.place(2*jsonSize(name) + 30) {
		return
	}
	if r.input.OutputMode == filesMode {
		r.result.Files = append(r.result.Files, name)
		fmt.Fprintln(&r.text, agenttool.PrintPath(path))
		return
	}
	r.result.Counts = append(r.result.Counts, grepCount{name, lines})
	fmt.Fprintf(&r.text, "%s:%d\n", agenttool.PrintPath(path), lines)
}

// addLines adds lines of one file until the page is full.
func (r *grepReport) addLines(path string, lines []engine.Line) {
	name, spelt := agenttool.SpellPath(path), agenttool.PrintPath(path)
	if spelt != r.path {
		r.path, r.before, r.match = spelt, r.before[:0], 0
	}
	for _, line := range lines {
		switch {
		case line.Column == 0 && r.match > 0 && line.Number <= r.match+r.input.After:
			r.writeAside(spelt, aside{line.Number, string(line.Text)})
		case line.Column == 0:
			r.keep(aside{line.Number, string(line.Text)})
		case r.place(name, spelt, line):
			r.match = line.Number
		default: // a match of another page can be context on this page
			r.match = 0
			r.keep(aside{line.Number, string(line.Text)})
		}
		if r.page.full {
			return
		}
	}
}

// place writes a matching line, and the context before it, if it is on the page.
func (r *grepReport) place(name, spelt string, line engine.Line) bool {
	text := string(line.Text)
	r.page.used.text = r.text.Len()
	if !r.page.place(2*(jsonSize(text)+jsonSize(spelt)+20) + 40*len(line.Spans) + 60) {
		return false
	}
	for _, context := range r.before {
		if context.number >= line.Number-r.input.Before { // otherwise it follows a match of the page before
			r.writeAside(spelt, context)
		}
	}
	r.before = r.before[:0]
	r.write(spelt, aside{line.Number, text}, ':')
	match := grepMatch{Path: name, Line: line.Number, Column: line.Column, Text: text, Submatches: append([]engine.Span{}, line.Spans...)}
	r.result.Matches = append(r.result.Matches, match)
	return true
}

// aside is a line of text with its number.
type aside struct {
	number int
	text   string
}

// keep keeps a context line for the next match, up to the requested number.
func (r *grepReport) keep(line aside) {
	if len(r.before) >= max(r.input.Before, 1) {
		r.before = append(r.before[:0], r.before[1:]...)
	}
	r.before = append(r.before, line)
}

// writeAside writes a context line, if there is room for it.
func (r *grepReport) writeAside(path string, line aside) {
	if r.aside += jsonSize(line.text) + jsonSize(path) + 20; r.aside <= maxPageContext {
		r.page.used.lines++
		r.write(path, line, '-')
	}
}

// write writes a line, after a separator if context was requested and there is a gap before the line.
func (r *grepReport) write(path string, line aside, mark byte) {
	gap := r.lastPath != path || line.number != r.lastLine+1
	if gap && r.lastLine > 0 && r.input.Before+r.input.After > 0 {
		r.text.WriteString("--\n")
	}
	if r.cut == 0 && engine.Clipped([]byte(line.text)) {
		r.cut = line.number
	}
	lines := strings.Split(line.text, "\n") // more than one if the pattern matches across lines
	last := len(r.printed) - 1
	if last < 0 || r.printed[last].path != r.resolved || r.printed[last].first+len(r.printed[last].lines) != line.number {
		r.printed = append(r.printed, printedLines{path: r.resolved, first: line.number})
		last++
	}
	r.printed[last].lines = append(r.printed[last].lines, lines...)
	r.lastPath, r.lastLine = path, line.number
	fmt.Fprintf(&r.text, "%s%c%d%c%s\n", path, mark, line.number, mark, line.text)
}

// shown returns the function that records which lines the caller got, unless they changed on their way.
// Lines that were clipped are not those of the file: the ledger compares them when somebody asks.
func (r *grepReport) shown(ledger *seen.Ledger, text string) func([]agenttool.Content) {
	printed := r.printed
	return func(content []agenttool.Content) {
		if len(content) == 0 || content[0].Text != text {
			return
		}
		for _, p := range printed {
			ledger.Printed(p.path, int64(p.first), p.lines)
		}
	}
}

// output returns the report.
func (r *grepReport) output(sum engine.Summary) agenttool.Output {
	r.result.FilesSearched, r.result.Skipped = sum.Searched, skipCounts(sum.Skipped)
	r.result.Total, r.result.NextOffset = r.page.total, r.page.next()
	r.result.LowerBound = r.end.incomplete()
	r.result.TimedOut = r.end.timedOut
	what := "matching lines"
	if r.input.OutputMode != contentMode {
		what = "files"
	}
	var n notes
	if r.read != nil {
		n.add("searched for %s (%s)", match.Quote(r.read.Expr), r.read.Why)
	}
	n.paging(&r.page, r.end, what)
	if r.aside > maxPageContext {
		n.add("context lines were left out: ask for fewer")
	}
	if r.cut > 0 {
		n.add("long lines are cut: read with offset %d and column shows all of one", r.cut)
	}
	n.ending(r.end, "narrow it with path, glob or type")
	binary := "binary with matches (" + agenttool.PrintPath(sum.Binary)
	if sum.Skipped.Binary > 1 {
		binary += ", …"
	}
	n.list("skipped", amount{sum.Skipped.Denied, denied}, amount{sum.Skipped.Binary, binary + ")"}, amount{sum.Skipped.Unreadable, "unreadable"},
		amount{sum.Skipped.Special, specials}, amount{sum.Skipped.TooLarge, "too large to search to its end"})
	if r.page.total == 0 {
		fmt.Fprintf(&r.text, "No matches. Searched %s in %s.\n", count.Of(r.result.FilesSearched, "file"), r.naming.where())
		if would := r.offer.note(sum.Probed); would != "" {
			n.add("%s", would)
		}
		if r.link != "" {
			n.add("%s", r.link)
		} else if r.near != "" {
			n.add("its glob matches no name; %s", r.near)
		} else {
			n.missing(r.missing)
			if r.missing != nil && r.below {
				n.add("a glob that begins with / is below the directory that is searched: name another directory in path")
			}
		}
	}
	if r.misread != "" {
		n.add("%s", r.misread)
	}
	n.leftOut(sum.Listed)
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
		return at + count.Of(r.page.total, "file") + " with matches"
	}
	return fmt.Sprintf("%s%s, %s searched", at, count.Of(r.page.total, "matching line"), count.Of(r.result.FilesSearched, "file"))
}

// jsonSize returns the size of s in JSON, with the escapes of encoding/json.
func jsonSize(s string) int {
	size := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			size++
		case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f:
			size += 5
		}
	}
	return size
}
