package search

import (
	"context"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/match"
	"toolhost/tools/workspace"
)

// The output modes.
const (
	contentMode = "content"
	filesMode   = "files_with_matches"
	countMode   = "count"
)

// grepTool searches the content of files.
type grepTool struct{ session }

// Describe returns the tool's records.
func (grepTool) Describe() agenttool.Description {
	return describe(agenttool.Declaration{
		Name: "grep", Aliases: []string{"Grep"}, Title: "Search file contents",
		Description: "Search file contents with a regular expression, line by line. Skips binary, hidden and ignored files.",
		SearchHint:  "find text in files, ripgrep, regex search",
	}, map[string]any{"path": ".", "output_mode": contentMode, "limit": 250, "offset": 0}, `{"pattern":"func main","type":"go"}`)
}

// grepInput is the normalised input of grep.
type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"` // absolute
	Glob       string `json:"glob,omitempty"`
	Type       string `json:"type,omitempty"`
	OutputMode string `json:"output_mode"`
	Before     int    `json:"before,omitempty"` // context lines
	After      int    `json:"after,omitempty"`
	Context    int    `json:"context,omitempty"` // always 0 after Bind, which moves it to Before and After
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Multiline  bool   `json:"multiline,omitempty"`
	Hidden     bool   `json:"hidden,omitempty"`
	NoIgnore   bool   `json:"no_ignore,omitempty"`
	Limit      int    `json:"limit"` // matching lines in mode content, else files
	Offset     int    `json:"offset,omitempty"`
}

// grepCall is one bound input of grep.
type grepCall struct {
	session
	input   grepInput
	room    agenttool.Capacity
	facts   agenttool.Facts
	pattern *match.Pattern
	read    *match.Reading // of the pattern, which RE2 does not understand as it is; nil: as it is
	filter  *filter
}

// Bind decodes input and compiles its pattern.
func (g grepTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &grepCall{session: g.session, room: scope.Capacity, input: grepInput{OutputMode: contentMode, Limit: 250}}
	in := &c.input
	if err := agenttool.DecodeInput(input, in); err != nil {
		return nil, err
	}
	root, err := rootPath(scope, in.Path)
	if err != nil {
		return nil, err
	}
	if c.pattern, c.read, err = match.Understand(in.Pattern, c.options()); err != nil {
		return nil, err
	}
	if c.filter, err = parseFilter(in.Glob, in.Type); err != nil {
		return nil, err
	}
	in.Path = agenttool.SpellPath(root.Absolute)
	in.Before, in.After, in.Context = max(in.Before, in.Context), max(in.After, in.Context), 0
	in.Hidden = in.Hidden || c.filter.only != nil && c.filter.only.dotted
	c.facts = readOnly(root)
	return c, nil
}

func (c *grepCall) options() match.Options {
	return match.Options{IgnoreCase: c.input.IgnoreCase, Multiline: c.input.Multiline}
}

// Input returns the grepInput.
func (c *grepCall) Input() any { return c.input }

// Facts returns the call's facts. Reads holds the search root.
func (c *grepCall) Facts() *agenttool.Facts { return &c.facts }

// Preflight checks that the search root can be opened.
func (c *grepCall) Preflight(context.Context) error {
	dir, f, err := openRoot(c.ws, c.facts.Reads[0])
	switch {
	case dir != nil:
		dir.Close()
	case f != nil:
		f.Close()
	}
	return err
}

// Run searches. At the time limit it succeeds with the results so far; if ctx ends first it returns them with ctx's
// error.
func (c *grepCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	root := c.facts.Reads[0]
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	r := newGrepReport(c.input, newNaming(c.ws, root), c.room)
	query := c.query()
	r.read, r.offer = c.read, &offer{pattern: c.input.Pattern, options: c.options()}
	if c.read != nil {
		r.offer.pattern = c.read.Expr
		r.offer.options.IgnoreCase = r.offer.options.IgnoreCase || c.read.IgnoreCase
	}
	query.Probes = r.offer.probes
	take := func(p engine.Part) bool {
		r.end.early = !r.add(p)
		return !r.end.early
	}
	dir, file, err := openRoot(c.ws, root)
	if err != nil {
		return agenttool.Output{}, err
	}
	var sum engine.Summary
	if file != nil { // the file was named: glob and type do not matter
		defer file.Close()
		sum, err = c.engine.GrepFile(limited, file, query, take)
	} else {
		sum, err = c.below(limited, dir, query, take)
	}
	if err != nil {
		return agenttool.Output{}, err
	}
	r.end.canceled = ctx.Err() != nil && !r.end.early
	r.end.timedOut = (limited.Err() != nil || sum.Listed.Partial) && !r.end.early && !r.end.canceled
	if sum.Searched == 0 && c.filter.only != nil && dir != nil && !r.end.incomplete() {
		r.near = c.nearNames(ctx, root, c.input.Hidden, c.input.NoIgnore, agenttool.ParsePath(c.input.Glob), r.naming)
	}
	out := r.output(sum)
	if c.seen != nil && len(r.printed) > 0 {
		out.Shown = r.shown(c.seen, root.Resolved, out.Content[0].Text)
	}
	return out, ctx.Err()
}

// below searches the files below dir.
func (c *grepCall) below(ctx context.Context, dir *workspace.Dir, query engine.Query, take func(engine.Part) bool) (engine.Summary, error) {
	place, err := c.place(dir, c.facts.Reads[0])
	if err != nil {
		dir.Close()
		return engine.Summary{}, err
	}
	place.Hidden, place.NoIgnore = c.input.Hidden, c.input.NoIgnore
	return c.engine.Grep(ctx, place, query, take)
}

// query returns the engine's query for this call.
func (c *grepCall) query() engine.Query {
	q := engine.Query{Pattern: c.pattern, Want: c.filter.want(), Clip: true}
	switch c.input.OutputMode {
	case filesMode:
		q.Limit = 1
	case contentMode:
		q.Store, q.Limit = true, c.input.Offset+c.input.Limit+1
		q.Before, q.After = c.input.Before, c.input.After
	}
	return q
}
