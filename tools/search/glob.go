package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

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
		Name: "glob", Aliases: []string{"Glob", "glob_file_search"}, Title: "Find files by name",
		Description: "List files whose path matches a pattern. Skips hidden and ignored files.",
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
	files selection
}

// Bind decodes input and checks its pattern. An absolute pattern names its own search root.
func (g globTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &globCall{session: g.session, room: scope.Capacity, input: globInput{Limit: 1000, Sort: byPath}}
	in := &c.input
	if err := agenttool.DecodeInput(input, in); err != nil {
		return nil, err
	}
	var err error
	if c.files, err = parsePatterns(scope, in.Path, []string{agenttool.ParsePath(in.Pattern)}, true); err != nil {
		return nil, err
	}
	in.Path = agenttool.SpellPath(c.files.base.Absolute)
	in.Hidden = in.Hidden || c.files.dotted
	c.facts, err = c.files.readOnly(scope)
	return c, err
}

// Input returns the globInput.
func (c *globCall) Input() any { return c.input }

// Facts returns the call's facts. Reads holds the search root and the paths that patterns name.
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
	limited, cancel := context.WithTimeout(ctx, c.limits.search)
	defer cancel()
	r := newGlobReport(c.input, newNaming(c.ws, c.facts.Reads[0]), c.room)
	r.misread = c.files.misread(c.ws, c.facts.Reads[0])
	shown := newOnce(&c.files)
	var sum engine.Summary
	for i := range c.files.targets {
		t := &c.files.targets[i]
		if r.end.early || limited.Err() != nil && i > 0 {
			break
		}
		part, err := c.list(limited, t, func(path string, modified func() int64) bool {
			r.end.early = shown.first(i, path) && !r.add(path, modified)
			return !r.end.early
		})
		if t.path() != "" && isMissing(err) {
			r.missing = append(r.missing, t.path())
			continue
		}
		if err != nil {
			return agenttool.Output{}, err
		}
		sum = sum.Plus(part)
	}
	if len(r.missing) < len(c.files.targets) {
		r.missing = nil
	}
	r.end.canceled = ctx.Err() != nil && !r.end.early
	r.end.timedOut = (limited.Err() != nil || sum.Listed.Partial) && !r.end.early && !r.end.canceled
	if r.page.total == 0 && !r.end.incomplete() {
		r.near = c.nearNames(ctx, c.facts.Reads[0], c.input.Hidden, c.input.NoIgnore, c.files.patterns, r.naming)
	}
	return r.output(sum), ctx.Err()
}

// list passes the files of a target to take, each with its path for results.
func (c *globCall) list(ctx context.Context, t *target, take func(path string, modified func() int64) bool) (sum engine.Summary, err error) {
	root, at, only := c.facts.Reads[t.dirRead], t.dir, t.only
	if t.name != "" {
		dir, err := c.ws.OpenDir(root)
		if err != nil {
			return sum, err
		}
		defer dir.Close()
		st, err := dir.Lstat(t.name)
		if err != nil {
			return sum, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return c.listFile(root, t, &st, take)
		}
		root, at, only = c.facts.Reads[t.pathRead], t.path()+"/", nil
	}
	dir, err := c.ws.OpenDir(root)
	if err != nil {
		return sum, err
	}
	place, err := c.place(dir, root)
	if err != nil {
		dir.Close()
		return sum, err
	}
	place.Hidden, place.NoIgnore = c.input.Hidden, c.input.NoIgnore
	names := newNaming(c.ws, root)
	return c.engine.List(ctx, place, c.files.filter(at, only).want(), func(f engine.FoundFile) bool {
		return take(names.path(f.Path()), f.Modified)
	})
}

// listFile passes the one file of a target in the directory root, which has the status st.
func (c *globCall) listFile(root agenttool.Path, t *target, st *unix.Stat_t, take func(path string, modified func() int64) bool) (sum engine.Summary, err error) {
	secrets, err := c.ws.Secrets()
	if err != nil {
		return sum, err
	}
	names := secrets.Below(root.Resolved)
	want := c.files.filter(t.dir, nil).want()
	switch kind := st.Mode & unix.S_IFMT; {
	case names.Name(t.name):
		sum.Skipped.Denied++
	case want != nil && !want("", t.name):
	case kind != unix.S_IFREG && kind != unix.S_IFLNK:
		sum.Skipped.Special++
	default:
		sum.Searched++
		take(newNaming(c.ws, root).path(t.name), func() int64 { return unix.TimespecToNsec(st.Mtim) })
	}
	return sum, nil
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
	input   globInput
	naming  naming
	page    page
	end     end
	result  globResult
	missing []string    // the paths that patterns name, if none of them exists
	misread string      // a remark on the patterns
	near    string      // which names would match in another spelling
	recent  []datedPath // in order of modification: the results so far, cut to the size of the page
	text    strings.Builder
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
func (r *globReport) add(path string, modified func() int64) bool {
	if r.input.Sort != byModified {
		r.place(path)
		return !r.page.full
	}
	r.recent = append(r.recent, datedPath{path, modified()})
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
func (r *globReport) place(path string) {
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
		} else {
			n.missing(r.missing)
		}
	}
	if r.misread != "" {
		n.add("%s", r.misread)
	}
	n.leftOut(sum.Listed)
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
