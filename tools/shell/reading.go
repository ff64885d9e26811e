package shell

import (
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/job"
	"toolhost/tools/job/output"
)

// reading is the result of the tools for jobs: the state of a job and part of its output.
type reading struct {
	jobState
	page
	matchCounts
	jobNeeds
	Running []string `json:"running,omitempty"`
	Killed  []string `json:"killed,omitempty"`

	of *job.Job
}

// jobState is the state of a job in the results of all tools.
type jobState struct {
	Job      string             `json:"job"`
	State    agenttool.JobState `json:"state"`
	ExitCode *int               `json:"exit_code"` // null while it runs, and when a signal ended it
	Signal   string             `json:"signal,omitempty"`
}

// page is the part of a job's output that was read.
type page struct {
	Cursor     int64       `json:"cursor"`      // where the text begins
	NextCursor int64       `json:"next_cursor"` // where it ends
	Bytes      int64       `json:"bytes"`       // of output so far
	Lines      int64       `json:"lines"`
	Text       string      `json:"text"`
	More       bool        `json:"more"` // more output is available now
	Missing    *output.Gap `json:"missing,omitempty"`
}

// matchCounts are the counts of a search in the output.
type matchCounts struct {
	Matched *bool  `json:"matched,omitempty"`
	Matches *int64 `json:"matches,omitempty"`
}

// jobNeeds has the input that a job waits for, and its ports.
type jobNeeds struct {
	WaitsFor *agenttool.JobWait  `json:"waits_for,omitempty"`
	Ports    []agenttool.JobPort `json:"ports,omitempty"`
}

// pageOf converts a page to a reading of a job. report is from before the page was read, so an ended job's output is
// complete.
func pageOf(p output.Page, j *job.Job, report job.Report) *reading {
	r := &reading{page: page{Cursor: p.From, NextCursor: p.Next, Text: p.Shown(), More: p.More, Missing: p.Missing}}
	r.complete(j, report)
	return r
}

// readOn continues where the last reading without a cursor ended.
func readOn(j *job.Job, r output.Request) *reading {
	report := j.Report()
	return pageOf(j.Cursor.ReadOn(r), j, report)
}

// request returns the request for a page of the streams, as large as the caller takes it.
func request(c agenttool.Capacity, streams output.Streams) output.Request {
	bytes, lines := c.Page(textBytes, 0)
	return output.Request{Max: bytes, Lines: lines, Streams: streams}
}

// complete adds the state of the job.
func (r *reading) complete(j *job.Job, report job.Report) {
	stats := j.Log().Stats()
	r.Job, r.State, r.Bytes, r.Lines = j.ID(), report.State, stats.Bytes, stats.Lines
	r.of = j
	r.WaitsFor, r.Ports, r.Running = report.Waits, report.Ports, report.Running
	if report.Ending != nil {
		r.ExitCode, r.Signal = exitOf(report.Ending)
	}
}

// output formats the reading for the model, for programs and for a person.
func (r *reading) output() agenttool.Output {
	text := r.Text
	if text == "" {
		text = "(no new output)"
	}
	out := agenttool.Output{
		Content: []agenttool.Content{agenttool.Text(text)}, Structured: r,
		Summary: fmt.Sprintf("job %s %s, %s of output", r.Job, r.status(), count.Grouped(r.Bytes, "byte", "bytes")),
	}
	out.Content = append(out.Content, agenttool.Text(strings.Join(r.notes(), "\n")))
	return out
}

// status describes the state of the job in a few words.
func (r *reading) status() string {
	switch {
	case r.State == agenttool.JobWaiting && r.WaitsFor != nil:
		return fmt.Sprintf("is waiting for input: %s reads its %s", r.WaitsFor.Command, r.WaitsFor.On)
	case r.State == agenttool.JobAsking:
		return "is held while a user is asked whether it may reach a host"
	case r.State == agenttool.JobLingering:
		return "has exited (" + r.exit() + "), but " + someOf(r.Running) + " " + verb(len(r.Running), "goes on", "go on")
	case r.State == agenttool.JobEnded && r.of != nil && r.of.Ending() != nil && r.of.Ending().WithSandbox:
		return "has " + endedWithSandbox
	case r.State == agenttool.JobEnded && r.of != nil && r.of.Bound() != nil:
		return "has ended: " + r.exit() + "; " + r.of.Bound().String()
	case r.State == agenttool.JobEnded && r.of != nil && r.of.EndedBy() != "":
		return "has ended: " + r.exit() + ", sent by job " + r.of.EndedBy()
	case r.State == agenttool.JobEnded && r.of != nil && r.of.LastSignal() != "":
		return "has ended: " + r.exit() + "; " + r.of.LastSignal()
	case r.State == agenttool.JobEnded:
		return "has ended: " + r.exit()
	}
	return "is running"
}

func (s *jobState) exit() string {
	switch {
	case s.Signal != "":
		return s.Signal
	case s.ExitCode != nil:
		return fmt.Sprintf("exit status %d", *s.ExitCode)
	}
	return "exit status unknown"
}

func (r *reading) notes() []string {
	var n notes
	n.add("job %s %s", r.Job, r.status())
	if r.State == agenttool.JobWaiting {
		n.add("answer with shell_input, or end it with shell_kill")
	}
	if r.Missing != nil {
		n.add("bytes %d to %d were not kept: %s", r.Missing.From, r.Missing.To, r.Missing.Reason)
	}
	if r.Matched != nil && !*r.Matched {
		n.add("nothing matched")
	}
	if r.Matches != nil {
		n.add("%s", count.Grouped(*r.Matches, "line matches", "lines match"))
	}
	switch {
	case r.More && r.Matches != nil:
		n.add("the first of them are shown")
	case r.More:
		n.add("there is more: the next reading begins at cursor %d of %d", r.NextCursor, r.Bytes)
	}
	if len(r.Killed) > 0 {
		n.add("killed: %s", someOf(r.Killed))
	}
	n.addPorts(r.of, r.Ports)
	return n
}
