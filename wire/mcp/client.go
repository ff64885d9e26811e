package mcp

import (
	"time"

	"toolhost/agenttool"
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
