package history

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/persist"
)

// Stats counts the calls of sessions.
type Stats struct {
	Sessions int     `json:"sessions"`
	LogBytes int64   `json:"log_bytes"`
	Bytes    int64   `json:"bytes"` // of all files of the sessions
	Tools    []Tally `json:"tools"` // by name
	All      Tally   `json:"all"`
}

// Tally counts the calls of one tool, or of all.
type Tally struct {
	Tool      string `json:"tool"` // "all" in the sum
	Calls     int    `json:"calls"`
	Failed    int    `json:"failed"`
	Prompts   int    `json:"prompts"`
	Denied    int    `json:"denied"`
	Unended   int    `json:"unended"`
	Changed   int    `json:"changed_files"`
	RunMS     int64  `json:"run_ms"`       // between begin and end, prompts included
	WaitMS    int64  `json:"prompt_ms"`    // between prompt and answer
	OutputLen int64  `json:"output_bytes"` // of commands
}

// NewStats returns the stats of no session.
func NewStats() Stats { return Stats{All: Tally{Tool: "all"}} }

// Add counts the calls of a log that a filter selects.
func (s *Stats) Add(l Log, f Filter) error {
	log, err := l.Open()
	if err != nil {
		return err
	}
	defer log.Close()
	r := Reader{}
	for item, err := range r.Items(log) {
		if err != nil {
			return err
		}
		c := item.About()
		if c == nil || item.Unended != nil && !item.Unended.CallRuns || !f.Match(c) {
			continue
		}
		s.All.add(c)
		s.tool(c.ToolName()).add(c)
	}
	s.Sessions++
	for _, p := range l.Parts {
		if info, err := os.Stat(p.Log); err == nil {
			s.LogBytes += info.Size()
		}
		s.Bytes += persist.SessionBytes(filepath.Dir(p.Log))
	}
	return nil
}

// tool returns the tally of a tool.
func (s *Stats) tool(name string) *Tally {
	i, found := slices.BinarySearchFunc(s.Tools, name, func(t Tally, name string) int { return strings.Compare(t.Tool, name) })
	if !found {
		s.Tools = slices.Insert(s.Tools, i, Tally{Tool: name})
	}
	return &s.Tools[i]
}

// add counts a call.
func (t *Tally) add(c *Call) {
	t.Calls++
	switch c.Status {
	case "":
		t.Unended++
	case agenttool.ResultSucceeded, agenttool.ResultPartialSucceeded:
	default:
		t.Failed++
	}
	if c.Denied() {
		t.Denied++
	}
	t.Changed += len(c.Changes())
	t.OutputLen += c.Outcome.StdoutBytes + c.Outcome.StderrBytes
	if !c.End.IsZero() {
		t.RunMS += c.End.Sub(c.Start).Milliseconds()
	}
	t.Prompts += len(c.Asked)
	for _, d := range c.Decided {
		if i := c.Question(d); i >= 0 && d.RequestRef == c.Asked[i].ID {
			t.WaitMS += d.Time.Sub(c.Asked[i].Time).Milliseconds()
		}
	}
}
