package mcp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// client says what a client does with results. The zero value takes text of any size, and waits without end.
type client struct {
	structured bool // it reads structured content and output schemas
	hides      bool // its model gets no content beside structured content
	meta       bool // it reads the records of a call in _meta
	defers     bool // it loads tools late, unless they say otherwise
	bytes      int  // of text that reach its model
	lines      int  // likewise
	wait       time.Duration
}

// clients are the known clients, by a part of the name that they give. The first match counts. Bytes, lines and times are
// the limits that we measured of each, less a margin.
var clients = []struct {
	name string // in lower case
	client
}{
	{"claude-ai", client{hides: true, bytes: usualBytes, lines: usualLines, wait: usualWait}},         // Claude Desktop
	{"claude", client{hides: true, defers: true, bytes: 30_000, lines: 2000, wait: 10 * time.Minute}}, // Claude Code
	{"codex", client{hides: true, bytes: 11_500, lines: usualLines, wait: provenWait}},                // it cuts the middle at 12,000 characters for unknown models
	{"copilot", client{bytes: usualBytes, lines: usualLines, wait: provenWait}},                       // above 20,500 bytes it passes 905 characters on
	{"gemini", client{bytes: 30_000, lines: 2000, wait: provenWait}},                                  // 40,000
	{"qwen", client{bytes: 24_000, lines: 2000, wait: provenWait}},                                    // 26,000
	{"opencode", client{bytes: 30_000, lines: 1900, wait: provenWait}},                                // it cuts the end after 2,000 lines
	{"cline", client{bytes: usualBytes, lines: usualLines, wait: usualWait}},                          // it gives up after 60 s, and passes all of a result on as JSON
	{"continue", client{bytes: usualBytes, lines: usualLines, wait: usualWait}},                       // likewise
}

// The margins for clients that are not known better: they pass about 20,000 characters on and wait for a minute.
const (
	usualBytes = 19_000
	usualLines = 1000
	usualWait  = 50 * time.Second
	provenWait = 70 * time.Second // of clients that waited for 75 s
)

// capacity returns how much the client takes of the result of a call that begins now.
func (c client) capacity() agenttool.Capacity {
	room := agenttool.Capacity{Bytes: c.bytes, Lines: c.lines}
	if c.wait > 0 {
		room.Until = time.Now().Add(c.wait)
	}
	return room
}

// wishesCapability is the experimental capability of clients that say how they take results: the members of [Results].
const wishesCapability = metaPrefix + "results"

// wishes returns the wishes that a client declares. Wishes that cannot be read are none.
func wishes(caps *sdk.ClientCapabilities) (r Results) {
	if caps == nil {
		return r
	}
	raw, err := json.Marshal(caps.Experimental[wishesCapability])
	if err != nil || json.Unmarshal(raw, &r) != nil {
		return Results{}
	}
	return r
}

// Results says how a client takes results, in place of the table of known clients. Nil members change nothing; a limit
// of 0 is none.
type Results struct {
	Structured *bool  `json:"structured,omitempty"` // with structured content and output schemas
	Meta       *bool  `json:"meta,omitempty"`       // with the ids of the records in _meta
	Bytes      *int   `json:"bytes,omitempty"`      // of text
	Lines      *int   `json:"lines,omitempty"`
	WaitMS     *int64 `json:"wait_ms,omitempty"` // for a command in the foreground
}

// over returns the client with the set members in place of its own.
func (r Results) over(c client) client {
	set(&c.structured, r.Structured)
	set(&c.meta, r.Meta)
	set(&c.bytes, r.Bytes)
	set(&c.lines, r.Lines)
	if r.WaitMS != nil {
		c.wait = time.Duration(max(*r.WaitMS, 0)) * time.Millisecond
	}
	c.bytes, c.lines = atLeast(c.bytes, leastOf["bytes"]), atLeast(c.lines, leastOf["lines"])
	return c
}

// atLeast returns a limit that is not less than the least one; 0 and less are none.
func atLeast(limit, least int) int {
	if limit <= 0 {
		return 0
	}
	return max(limit, least)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// ParseResults reads a list such as "structured,meta,bytes=30000,lines=2000,wait=2m". An error names the part that is wrong.
func ParseResults(list string) (r Results, err error) {
	for part := range strings.SplitSeq(list, ",") {
		if err := r.parse(strings.TrimSpace(part)); err != nil {
			return Results{}, err
		}
	}
	return r, nil
}

func (r *Results) parse(part string) error {
	name, value, given := strings.Cut(part, "=")
	switch {
	case name == "structured" && !given:
		r.Structured = new(true)
	case name == "meta" && !given:
		r.Meta = new(true)
	case name == "bytes", name == "lines":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 0 && n < leastOf[name] {
			return fmt.Errorf("%s=%s: %s is a number from %d on, or 0 for any", name, value, name, leastOf[name])
		}
		if name == "bytes" {
			r.Bytes = &n
		} else {
			r.Lines = &n
		}
	case name == "wait":
		wait, err := time.ParseDuration(value)
		if err != nil || wait < 0 {
			return fmt.Errorf("wait=%s: wait is a duration such as 90s, or 0s for any", value)
		}
		r.WaitMS = new(wait.Milliseconds())
	default:
		return fmt.Errorf("%q is none of structured, meta, bytes=N, lines=N, wait=DURATION", part)
	}
	return nil
}

// leastOf are the smallest limits: below them a result has no room for its remarks.
var leastOf = map[string]int{"bytes": 1000, "lines": 20}

// clientOf returns the client of a request: as these results have it, else as it says itself, else as the table has it.
func (r Results) clientOf(info *sdk.Implementation, caps *sdk.ClientCapabilities) client {
	c := client{bytes: usualBytes, lines: usualLines, wait: usualWait}
	if info != nil {
		name := strings.ToLower(info.Name)
		for _, known := range clients {
			if strings.Contains(name, known.name) {
				c = known.client
				break
			}
		}
	}
	return r.over(wishes(caps).over(c))
}
