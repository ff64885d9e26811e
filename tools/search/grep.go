package search

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"syscall"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/match"
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
		Name: "grep", Aliases: []string{"Grep", "grep_search", "search_file_content", "grep_files", "search_files", "search_codebase"}, Title: "Search file contents",
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
	Encoding   string `json:"encoding,omitempty"` // of every file; "": each as it is recognised
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
	read    *match.Reading // how the pattern was read, if it is not valid in RE2; nil: as it is
	files   selection
}

// Bind decodes input and compiles its pattern.
func (g grepTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &grepCall{session: g.session, room: scope.Capacity, input: grepInput{OutputMode: contentMode, Limit: 250}}
	in := &c.input
	if err := agenttool.DecodeInput(input, in); err != nil {
		return nil, err
	}
	var err error
	if c.files, err = parsePatterns(scope, in.Path, globs(in.Glob), false); err != nil {
		return nil, err
	}
	if c.pattern, c.read, err = match.Understand(in.Pattern, c.options()); err != nil {
		return nil, err
	}
	if in.Encoding != "" {
		if _, err = encoding.Parse(in.Encoding, nil); err != nil {
			return nil, agenttool.Failure(agenttool.InvalidArguments, "bad_value", err.Error()).In("/encoding")
		}
	}
	if c.files.types, err = typeShapes(in.Type); err != nil {
		return nil, err
	}
	in.Path = agenttool.SpellPath(c.files.base.Absolute)
	in.Before, in.After, in.Context = max(in.Before, in.Context), max(in.After, in.Context), 0
	in.Hidden = in.Hidden || c.files.dotted
	c.facts, err = c.files.readOnly(scope)
	return c, err
}

// globs returns the patterns of grep's glob.
func globs(text string) []string {
	if text == "" {
		return nil
	}
	return []string{agenttool.ParsePath(text)}
}

func (c *grepCall) options() match.Options {
	return match.Options{IgnoreCase: c.input.IgnoreCase, Multiline: c.input.Multiline}
}

// Input returns the grepInput.
func (c *grepCall) Input() any { return c.input }

// Facts returns the call's facts. Reads holds the search root and the paths that patterns name.
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
	limited, cancel := context.WithTimeout(ctx, c.limits.search)
	defer cancel()
	r := newGrepReport(c.input, newNaming(c.ws, c.facts.Reads[0]), c.room)
	r.read, r.offer = c.read, &offer{pattern: c.input.Pattern, options: c.options(), limits: c.limits}
	if c.read != nil {
		r.offer.pattern = c.read.Expr
		r.offer.options.IgnoreCase = r.offer.options.IgnoreCase || c.read.IgnoreCase
	}
	r.misread = c.files.misread(c.ws, c.facts.Reads[0])
	shown := newOnce(&c.files)
	var sum engine.Summary
	targets := c.files.targets
	for i := 0; i < len(targets); i++ {
		t := &targets[i]
		if r.end.early || limited.Err() != nil && i > 0 {
			break
		}
		query := c.query()
		if r.page.total == 0 && sum.Probed == nil {
			query.Probes = r.offer.probes
		}
		part, err := c.search(limited, t, query, func(path, resolved string, p engine.Part) bool {
			r.end.early = shown.first(i, path) && !r.add(path, resolved, p)
			return !r.end.early
		})
		if t.path() != "" && isMissing(err) {
			r.missing = append(r.missing, t.path())
			if len(r.missing) == len(targets) && c.rootIsFile() { // a file that the caller named is searched whatever the glob says
				targets = append(targets, target{})
			}
			continue
		}
		if err != nil {
			return agenttool.Output{}, err
		}
		sum = sum.Plus(part)
	}
	if len(r.missing) < len(targets) {
		r.missing = nil
	}
	r.below = slices.ContainsFunc(c.files.patterns, func(p string) bool { return strings.HasPrefix(p, "/") })
	r.end.canceled = ctx.Err() != nil && !r.end.early
	r.end.timedOut = (limited.Err() != nil || sum.Listed.Partial) && !r.end.early && !r.end.canceled
	if sum.Searched == 0 && c.files.patterns != nil && !r.end.incomplete() {
		r.near = c.nearNames(ctx, c.facts.Reads[0], c.input.Hidden, c.input.NoIgnore, c.files.patterns, r.naming)
		r.link = c.linkName(ctx, c.facts.Reads[0], c.input.Hidden, c.input.NoIgnore, c.files.patterns, r.naming)
	}
	out := r.output(sum)
	if c.seen != nil && len(r.printed) > 0 {
		out.Shown = r.shown(c.seen, out.Content[0].Text)
	}
	return out, ctx.Err()
}

// search searches the files of a target. It passes results to take with the path of their file, as results spell it and
// as it is without links.
func (c *grepCall) search(ctx context.Context, t *target, q engine.Query, take func(path, resolved string, p engine.Part) bool) (sum engine.Summary, err error) {
	root, at, only := c.facts.Reads[t.dirRead], t.dir, t.only
	if t.name != "" {
		root, at, only = c.facts.Reads[t.pathRead], t.path()+"/", nil
	}
	dir, file, err := openRoot(c.ws, root)
	if err != nil {
		return engine.Summary{}, err
	}
	names := newNaming(c.ws, root)
	each := func(p engine.Part) bool {
		if p.Path == "" {
			return take(names.path(""), root.Resolved, p)
		}
		return take(names.path(p.Path), agenttool.Join(root.Resolved, p.Path), p)
	}
	defer func() {
		if sum.Probed != nil {
			sum.Probed.Path = names.path(sum.Probed.Path)
		}
		if sum.Skipped.Binary > 0 {
			sum.Binary = names.path(sum.Binary)
		}
	}()
	if file != nil {
		defer file.Close()
		if t.dir != "" && t.name == "" {
			return engine.Summary{}, syscall.ENOTDIR
		}
		want := c.files.filter(t.dir, nil).want()
		if t.name != "" && want != nil && !want("", t.name) {
			return engine.Summary{}, nil
		}
		return c.engine.GrepFile(ctx, file, q, each)
	}
	place, err := c.place(dir, root)
	if err != nil {
		dir.Close()
		return engine.Summary{}, err
	}
	place.Hidden, place.NoIgnore = c.input.Hidden, c.input.NoIgnore
	q.Want = c.files.filter(at, only).want()
	return c.engine.Grep(ctx, place, q, each)
}

// rootIsFile reports whether the search root is a file.
func (c *grepCall) rootIsFile() bool {
	file, err := c.ws.OpenFile(c.facts.Reads[0])
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// query returns the engine's query for this call.
func (c *grepCall) query() engine.Query {
	q := engine.Query{Pattern: c.pattern, Encoding: c.input.Encoding, Clip: true}
	switch c.input.OutputMode {
	case filesMode:
		q.Limit = 1
	case contentMode:
		q.Store, q.Limit = true, c.input.Offset+c.input.Limit+1
		q.Before, q.After = c.input.Before, c.input.After
	}
	return q
}
