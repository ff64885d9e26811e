package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/tools/job"
	"toolhost/tools/job/output"
)

// reader is the tool shell_output.
type reader struct{ jobs *job.Jobs }

// Describe returns the tool's records.
func (reader) Describe() agenttool.Description {
	return control{
		name: "shell_output", title: "Read a job's output", aliases: []string{"BashOutput", "bash_output", "TaskOutput", "read_background_output"},
		hint:     "background output of a command, wait, tail, follow a log",
		example:  `{"job":"j1","until":"exit"}`,
		readOnly: agenttool.Yes, destructive: agenttool.No, openWorld: false,
		description: "Reads what a job (j1, j2, …) said since the last reading, and says how it is. With wait_ms it waits for news, with until for " +
			"its exit, a line or silence: better than asking again. tail and grep look at all of its output and move nothing.",
	}.describe()
}

// readInput is the input of shell_output.
type readInput struct {
	Job    string `json:"job"`
	Cursor *int64 `json:"cursor,omitempty"`
	WaitMS *int64 `json:"wait_ms,omitempty"`
	Until  string `json:"until,omitempty"`
	Tail   int    `json:"tail,omitempty"`
	Grep   string `json:"grep,omitempty"`
	Stream string `json:"stream,omitempty"`
}

// Limits of the waiting time of one call; untilWait is the default if only a condition is given.
const (
	maxWait   = 5 * time.Minute
	untilWait = 30 * time.Second
	grepLimit = 20 * time.Second // too short for a gigabyte of output: then the first matches are returned
)

// ActsOnJobs implements [agenttool.JobTool].
func (reader) ActsOnJobs() {}

// Bind decodes and checks an input. Errors are of class invalid_arguments.
func (t reader) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	c := &outputCall{jobs: t.jobs, room: scope.Capacity, facts: ownJobs(true)}
	if err := bindControl(raw, &c.input, &c.input.Job); err != nil {
		return nil, err
	}
	return c, c.check()
}

// outputCall is a bound call of shell_output.
type outputCall struct {
	jobs  *job.Jobs
	room  agenttool.Capacity
	input readInput
	facts agenttool.Facts

	until   job.Until
	grep    *regexp.Regexp
	streams output.Streams
}

func (c *outputCall) Input() any { return c.input }

func (c *outputCall) Facts() *agenttool.Facts { return &c.facts }

// OwnTime implements [agenttool.Bounded]: what it waits for, and a minute for files with output.
func (c *outputCall) OwnTime() time.Duration { return c.until.Limit + time.Minute }

// check parses and checks the values.
func (c *outputCall) check() (err error) {
	in := c.input
	if in.Cursor != nil && *in.Cursor < 0 {
		return invalid("/cursor", "bad_cursor", "cursor is negative: it is an offset in the job's output")
	}
	if c.until, err = parseUntil(in.Until); err != nil {
		return err
	}
	switch {
	case in.WaitMS != nil && (*in.WaitMS < 0 || *in.WaitMS > maxWait.Milliseconds()):
		return invalid("/wait_ms", "bad_wait", fmt.Sprintf("wait_ms is %d: it must be between 0 and %d", *in.WaitMS, maxWait.Milliseconds()))
	case in.WaitMS != nil:
		c.until.Limit = time.Duration(*in.WaitMS) * time.Millisecond
	case in.Until != "":
		c.until.Limit = untilWait
	}
	if in.Grep != "" {
		if c.grep, err = regexp.Compile(in.Grep); err != nil {
			return invalid("/grep", "bad_pattern", fmt.Sprintf("grep: %v", err))
		}
	}
	switch in.Stream {
	case "":
	case "stdout":
		c.streams = output.Only(output.Stdout)
	case "stderr":
		c.streams = output.Only(output.Stderr)
	default:
		return invalid("/stream", "bad_stream", fmt.Sprintf("stream is %q: it is stdout or stderr, or left out for both", in.Stream))
	}
	return nil
}

// parseUntil parses exit, match:REGEX or quiet:MS.
func parseUntil(s string) (u job.Until, err error) {
	kind, value, _ := strings.Cut(s, ":")
	switch {
	case s == "":
	case s == "exit":
		u.Exit = true
	case kind == "match" && value != "":
		if u.Match, err = regexp.Compile(value); err != nil {
			return u, invalid("/until", "bad_pattern", fmt.Sprintf("until: %v", err))
		}
	case kind == "quiet":
		ms, err := strconv.ParseUint(value, 10, 32)
		if err != nil || ms == 0 || time.Duration(ms)*time.Millisecond > maxWait {
			return u, invalid("/until", "bad_until", fmt.Sprintf("until is %q: quiet takes milliseconds, from 1 to %d", s, maxWait.Milliseconds()))
		}
		u.Quiet = time.Duration(ms) * time.Millisecond
	default:
		return u, invalid("/until", "bad_until", fmt.Sprintf("until is %q: it is exit, match:REGEX or quiet:MS", cut.Short(s, 100)))
	}
	return u, nil
}

// Run waits, and reads. Errors: invalid_arguments for an unknown job or a cursor beyond the end of its output, or the
// context's cause.
func (c *outputCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	j, err := c.jobs.Find(c.input.Job)
	if err != nil {
		return agenttool.Output{}, err
	}
	switch {
	case c.input.Cursor != nil:
		c.until.From = *c.input.Cursor
	case c.until.Match != nil:
		c.until.From = j.Cursor.Unmatched()
	default:
		c.until.From = j.Cursor.At()
	}
	if size := j.Log().Stats().Bytes; c.until.From > size {
		return agenttool.Output{}, invalid("/cursor", "cursor_out_of_range", fmt.Sprintf(
			"cursor %d is behind the end of the output of job %s, which has %d bytes", c.until.From, j.ID(), size))
	}
	matched := false
	c.until.Limit = c.room.Wait(c.until.Limit)
	if c.until.Limit > 0 || c.until.Match != nil {
		if matched, err = j.AwaitOutput(ctx, c.until); err != nil {
			return agenttool.Output{}, err
		}
	}
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx)
	}
	r, err := c.take(ctx, j)
	if err != nil {
		return agenttool.Output{}, err
	}
	if c.until.Match != nil {
		r.Matched = &matched
	}
	return r.output(), nil
}

// take reads the requested output.
func (c *outputCall) take(ctx context.Context, j *job.Job) (*reading, error) {
	log, report, page := j.Log(), j.Report(), request(c.room, c.streams)
	switch {
	case c.grep != nil:
		return c.search(ctx, j)
	case c.input.Tail > 0:
		return pageOf(log.Tail(tail(c.input.Tail, page), page.Max, c.streams), j, report), nil
	case c.input.Cursor != nil:
		page.From = *c.input.Cursor
		return pageOf(log.Read(page), j, report), nil
	}
	return readOn(j, page), nil
}

// tail returns how many of the last lines a page has room for.
func tail(lines int, page output.Request) int {
	if page.Lines > 0 {
		return min(lines, page.Lines)
	}
	return lines
}

// search searches for the requested lines.
func (c *outputCall) search(ctx context.Context, j *job.Job) (*reading, error) {
	limited, cancel := context.WithTimeout(ctx, grepLimit)
	defer cancel()
	report, end := j.Report(), j.Log().Stats().Bytes
	room := request(c.room, c.streams)
	found, err := j.Log().Grep(limited, c.grep, room.Max, c.streams)
	found.Lines = found.Lines[:tail(len(found.Lines), room)]
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := &reading{
		page: page{Cursor: end, NextCursor: end, Text: found.String(), More: err != nil || int64(len(found.Lines)) < found.Count, Missing: found.Missing}, matchCounts: matchCounts{Matches: &found.Count},
	}
	r.complete(j, report)
	return r, nil
}
