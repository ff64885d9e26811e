package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/search/engine"
)

// The sort orders of glob.
const (
	byPath     = "path"
	byModified = "modified"
)

// globTool lists files by name.
type globTool struct{ session }

// Describe returns the tool's records.
func (globTool) Describe() agenttool.Description {
	return describe(agenttool.Declaration{
		Name: "glob", Aliases: []string{"Glob"}, Title: "Find files by name",
		Description: "List files whose path matches a pattern. Skips hidden and ignored files. Names that are not UTF-8 are spelt $'caf\\xe9', here and in every path.",
		SearchHint:  "find files by name, list directory tree",
	}, map[string]any{"path": ".", "limit": 1000, "offset": 0, "sort": byPath}, `{"pattern":"src/**/*_test.go"}`)
}

// globInput is the normalised input of glob.
type globInput struct {
	Pattern  string `json:"pattern"` // relative to Path
	Path     string `json:"path"`    // absolute
	Hidden   bool   `json:"hidden,omitempty"`
	NoIgnore bool   `json:"no_ignore,omitempty"`
	Limit    int    `json:"limit"`
	Offset   int    `json:"offset,omitempty"`
	Sort     string `json:"sort"`
}

// globCall is one bound input of glob.
type globCall struct {
	session
	input globInput
	room  agenttool.Capacity
	facts agenttool.Facts
	glob  glob
}

// Bind decodes input and checks its pattern. An absolute pattern names its own search root.
func (g globTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &globCall{session: g.session, room: scope.Capacity, input: globInput{Limit: 1000, Sort: byPath}}
	in := &c.input
	if err := agenttool.DecodeInput(input, in); err != nil {
		return nil, err
	}
	pattern := agenttool.ParsePath(in.Pattern)
	if strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~/") {
		if in.Path != "" {
			return nil, agenttool.Failure(agenttool.InvalidArguments, "bad_glob",
				fmt.Sprintf(`glob %q: it is absolute, so leave out "path", or make it relative to that`, in.Pattern))
		}
		in.Path, pattern = doublestar.SplitPattern(pattern)
		in.Path, pattern = agenttool.SpellPath(in.Path), "./"+pattern
		in.Pattern = agenttool.SpellPath(pattern)
	}
	root, err := rootPath(scope, in.Path)
	if err != nil {
		return nil, err
	}
	if c.glob, err = parseGlob(pattern); err != nil {
		return nil, err
	}
	in.Path = agenttool.SpellPath(root.Absolute)
	in.Hidden = in.Hidden || c.glob.dotted
	c.facts = readOnly(root)
	return c, nil
}

// Input returns the globInput.
func (c *globCall) Input() any { return c.input }

// Facts returns the call's facts. Reads holds the search root.
func (c *globCall) Facts() *agenttool.Facts { return &c.facts }

// Preflight checks that the search root is a directory.
func (c *globCall) Preflight(context.Context) error {
	dir, err := openRootDir(c.ws, c.facts.Reads[0])
	if err == nil {
		dir.Close()
	}
	return err
}

// Run lists. At the time limit it succeeds with the results so far; if ctx ends first it returns them with ctx's
// error.
func (c *globCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	root := c.facts.Reads[0]
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	dir, err := openRootDir(c.ws, root)
	if err != nil {
		return agenttool.Output{}, err
	}
	place, err := c.place(dir, root)
	if err != nil {
		dir.Close()
		return agenttool.Output{}, err
	}
	place.Hidden, place.NoIgnore = c.input.Hidden, c.input.NoIgnore
	r := newGlobReport(c.input, newNaming(c.ws, root), c.room)
	sum, err := c.engine.List(limited, place, c.glob.match, func(f engine.FoundFile) bool {
		r.end.early = !r.add(f)
		return !r.end.early
	})
	if err != nil {
		return agenttool.Output{}, err
	}
	r.end.canceled = ctx.Err() != nil && !r.end.early
	r.end.timedOut = (limited.Err() != nil || sum.Listed.Partial) && !r.end.early && !r.end.canceled
	if r.page.total == 0 && !r.end.incomplete() {
		r.near = c.nearNames(ctx, root, c.input.Hidden, c.input.NoIgnore, agenttool.ParsePath(c.input.Pattern), r.naming)
	}
	return r.output(sum), ctx.Err()
}

// globResult is the structured content of glob.
type globResult struct {
	Paths      []string       `json:"paths"`
	Total      int            `json:"total"`
	LowerBound bool           `json:"total_is_lower_bound"`
	NextOffset *int           `json:"next_offset,omitempty"`
	Skipped    globSkipCounts `json:"skipped"`
	TimedOut   bool           `json:"timed_out"`
}

type globSkipCounts struct {
	Denied     int `json:"denied"`
	Unreadable int `json:"unreadable"`
	Special    int `json:"special"`
}

// globReport collects the results of one call.
type globReport struct {
	input  globInput
	naming naming
	page   page
	end    end
	result globResult
	near   string      // which names would match in another spelling
	recent []datedPath // in order of modification: the results so far, cut to the size of the page
	text   strings.Builder
}

// datedPath is a path with the time of its last change.
type datedPath struct {
	path     string
	modified int64
}

func newGlobReport(input globInput, names naming, room agenttool.Capacity) *globReport {
	return &globReport{
		input: input, naming: names,
		page:   newPage(input.Offset, input.Limit, room),
		result: globResult{Paths: []string{}},
	}
}

// add adds a match and reports whether more are wanted.
func (r *globReport) add(f engine.FoundFile) bool {
	if r.input.Sort != byModified {
		r.place(f.Path())
		return !r.page.full
	}
	r.recent = append(r.recent, datedPath{f.Path(), f.Modified()})
	r.page.total++
	if need := r.input.Offset + r.input.Limit; len(r.recent) >= 2*need+1024 {
		r.cut(need)
	}
	return true
}

// cut sorts the results by time, the newest first, and drops all but the first n.
func (r *globReport) cut(n int) {
	slices.SortFunc(r.recent, func(a, b datedPath) int {
		return cmp.Or(cmp.Compare(b.modified, a.modified), cmp.Compare(a.path, b.path))
	})
	r.recent = r.recent[:min(n, len(r.recent))]
}

// place adds a path to the page if it belongs there.
func (r *globReport) place(below string) {
	path := r.naming.path(below)
	name := agenttool.SpellPath(path)
	r.page.used.text = r.text.Len()
	if r.page.place(2*jsonSize(name) + 10) {
		r.result.Paths = append(r.result.Paths, name)
		fmt.Fprintln(&r.text, agenttool.PrintPath(path))
	}
}

// output returns the report.
func (r *globReport) output(sum engine.Summary) agenttool.Output {
	if r.input.Sort == byModified {
		total := r.page.total
		r.page.total = 0
		r.cut(r.input.Offset + r.input.Limit)
		for _, d := range r.recent {
			r.place(d.path)
		}
		r.page.total = total
	}
	r.result.Total, r.result.NextOffset = r.page.total, r.page.next()
	r.result.LowerBound, r.result.TimedOut = r.end.incomplete(), r.end.timedOut
	r.result.Skipped = globSkipCounts{sum.Skipped.Denied, sum.Skipped.Unreadable, sum.Skipped.Special}
	var n notes
	n.paging(&r.page, r.end, "files")
	n.ending(r.end, "narrow it with path or a longer pattern")
	n.list("skipped", amount{r.result.Skipped.Denied, denied}, amount{r.result.Skipped.Unreadable, "unreadable"}, amount{r.result.Skipped.Special, specials})
	if r.page.total == 0 {
		fmt.Fprintf(&r.text, "No files match. Compared %s in %s.\n", count.Of(sum.Searched, "name"), r.naming.where())
		if r.near != "" {
			n.add("%s", r.near)
		}
		n.leftOut(sum.Listed)
	}
	r.text.WriteString(n.String())
	atLeast := ""
	if r.result.LowerBound {
		atLeast = "at least "
	}
	return agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(r.text.String())},
		Structured: r.result,
		Summary:    atLeast + count.Of(r.page.total, "file"),
	}
}
