package search

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// timeLimit is how long a search may take before it gives back what it has.
const timeLimit = 20 * time.Second

// maxLargeBuffers is how many texts above 1 MiB are in memory at once, over all searches of one tool.
const maxLargeBuffers = 2

// The output modes.
const (
	contentMode = "content"
	filesMode   = "files_with_matches"
	countMode   = "count"
)

// grepTool searches the content of files.
type grepTool struct {
	ws      *workspace.Workspace
	limit   time.Duration
	large   chan struct{}
	buffers sync.Pool // of *[]byte, which the scanners keep between calls
}

// NewGrep returns the tool grep for the files that w opens. A call's Output is at most 1 MiB; its Structured conforms
// to the declared output schema. Errors of Bind and Preflight are of class invalid_arguments: bad_pattern,
// pattern_too_large, bad_glob, unknown_type, not_found, or permission_denied for toolhost's own state.
func NewGrep(w *workspace.Workspace) agenttool.Tool {
	return &grepTool{ws: w, limit: timeLimit, large: make(chan struct{}, maxLargeBuffers)}
}

// Describe returns the tool's records.
func (g *grepTool) Describe() agenttool.Description {
	return describe(declared{
		name: "grep", alias: "Grep", title: "Search file contents",
		description: "Search file contents with a regular expression, line by line. Skips binary, hidden and ignored files.",
		hint:        "find text in files, ripgrep, regex search",
		input:       grepInputSchema,
		output:      grepOutputSchema,
		defaults:    map[string]any{"path": ".", "output_mode": contentMode, "limit": 250, "offset": 0},
	})
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
	Context    int    `json:"context,omitempty"` // always 0 after Bind: it is in Before and After
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Multiline  bool   `json:"multiline,omitempty"`
	Hidden     bool   `json:"hidden,omitempty"`
	NoIgnore   bool   `json:"no_ignore,omitempty"`
	Limit      int    `json:"limit"` // matching lines in mode content, else files
	Offset     int    `json:"offset,omitempty"`
}

// grepCall is one bound input of grep.
type grepCall struct {
	tool    *grepTool
	input   grepInput
	facts   agenttool.Facts
	pattern *pattern
	filter  filter
	secrets workspace.Secrets // of the run
}

// Bind decodes input and compiles its pattern.
func (g *grepTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &grepCall{tool: g, input: grepInput{OutputMode: contentMode, Limit: 250}}
	in := &c.input
	if err := agenttool.DecodeInput(input, in); err != nil {
		return nil, err
	}
	root, err := rootPath(scope, in.Path)
	if err != nil {
		return nil, err
	}
	if c.pattern, err = compile(in.Pattern, in.IgnoreCase, in.Multiline); err != nil {
		return nil, err
	}
	if c.filter, err = parseFilter(in.Glob, in.Type); err != nil {
		return nil, err
	}
	in.Path = root.Absolute
	in.Before, in.After, in.Context = max(in.Before, in.Context), max(in.After, in.Context), 0
	in.Hidden = in.Hidden || c.filter.only != nil && c.filter.only.dotted
	c.facts = readOnly(root)
	return c, nil
}

// Input returns the grepInput.
func (c *grepCall) Input() any { return c.input }

// Facts returns the call's facts. Reads holds the search root.
func (c *grepCall) Facts() *agenttool.Facts { return &c.facts }

// Preflight finds out whether the search root can be opened.
func (c *grepCall) Preflight(context.Context) error {
	dir, f, err := openRoot(c.tool.ws, c.facts.Reads[0])
	switch {
	case dir != nil:
		dir.Close()
	case f != nil:
		f.Close()
	}
	return err
}

// Run searches. After the time limit it succeeds with what it has; when ctx ends first it returns that and ctx's error.
func (c *grepCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	root := c.facts.Reads[0]
	var err error
	if c.secrets, err = c.tool.ws.Secrets(); err != nil {
		return agenttool.Output{}, err
	}
	dir, file, err := openRoot(c.tool.ws, root)
	if err != nil {
		return agenttool.Output{}, err
	}
	limited, cancel := context.WithTimeout(ctx, c.tool.limit)
	defer cancel()
	r := newGrepReport(c.input, newNaming(c.tool.ws, root))
	if file != nil {
		c.one(limited, file, r)
	} else {
		c.below(limited, dir, r)
	}
	r.end.canceled = ctx.Err() != nil && !r.end.early
	r.end.timedOut = limited.Err() != nil && !r.end.early && !r.end.canceled
	return r.output(), ctx.Err()
}

// one searches a single file, whatever glob and type say: it was named.
func (c *grepCall) one(ctx context.Context, file *regular, r *grepReport) {
	defer file.Close()
	s, release := c.scanner()
	defer release()
	want := c.want()
	want.skip = c.input.Offset
	if out := s.scan(ctx, file, want); ctx.Err() == nil {
		r.end.early = !r.add("", out, want.skip)
	}
}

// below searches the files below dir.
func (c *grepCall) below(ctx context.Context, dir *workspace.Dir, r *grepReport) {
	w := &walker{
		ws: c.tool.ws, root: c.facts.Reads[0], hidden: c.input.Hidden, noIgnore: c.input.NoIgnore,
		enter: c.filter.enters,
	}
	p := &pipeline{worker: c.scanner}
	p.find = func(ctx context.Context, visit func(found) bool) {
		w.visit = func(f found) bool {
			if f.kind == link || f.kind != unreadable && !c.filter.wants(f.path) {
				return true
			}
			return visit(f)
		}
		w.walk(ctx, dir)
	}
	p.search = func(ctx context.Context, s *scanner, f found) scanned { return c.search(ctx, s, f, c.want()) }
	p.take = func(ctx context.Context, f found, out scanned) bool {
		if r.skipped.count(f.kind) {
			return true
		}
		skip := 0
		if before := c.input.Offset - r.page.total; c.input.OutputMode == contentMode && before > 0 && out.lines > before {
			// The page begins within this file, which its worker could not know.
			out, skip = c.again(ctx, f, before), before
		}
		more := r.add(f.path, out, skip)
		r.end.early = !more
		return more
	}
	p.run(ctx)
	r.omitted, r.unlisted = w.omitted, w.unlisted
}

// want returns what a scan of any file is to find out.
func (c *grepCall) want() wanted {
	switch c.input.OutputMode {
	case filesMode:
		return wanted{lines: 1}
	case countMode:
		return wanted{lines: math.MaxInt}
	}
	return wanted{
		lines: c.input.Offset + c.input.Limit + 1, store: c.input.Limit,
		before: c.input.Before, after: c.input.After,
	}
}

// again searches a file once more and stores its matches after the first skip.
func (c *grepCall) again(ctx context.Context, f found, skip int) scanned {
	s, release := c.scanner()
	defer release()
	want := c.want()
	want.skip = skip
	return c.search(ctx, s, f, want)
}

// search searches one found file.
func (c *grepCall) search(ctx context.Context, s *scanner, f found, want wanted) scanned {
	file, err := openRegular(f.open())
	if err != nil {
		return scanned{err: err}
	}
	defer file.Close()
	if err := c.secrets.File(f.path, filepath.Join(c.facts.Reads[0].Resolved, f.path), file.f); err != nil {
		return scanned{err: err}
	}
	return s.scan(ctx, file, want)
}

// scanner returns a scanner whose buffer is kept for the next one when it is released.
func (c *grepCall) scanner() (s *scanner, release func()) {
	s = newScanner(c.pattern, c.tool.large)
	if kept, ok := c.tool.buffers.Get().(*[]byte); ok {
		s.window.room = *kept
	}
	return s, func() {
		if s.window.room != nil {
			c.tool.buffers.Put(&s.window.room)
		}
	}
}
