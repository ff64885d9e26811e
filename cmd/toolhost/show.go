package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/persist"
)

// show prints a session's log for people: a line a call, or a line an event of one call.
type show struct {
	out  io.Writer
	json bool
	call string // the client's id or the invocation's; empty: all calls
	live bool   // a process writes the log
}

// eventData holds the members of an event's data that show prints.
type eventData struct {
	Phase      string                `json:"phase"`
	Status     string                `json:"status"`
	Decision   *agenttool.Decision   `json:"decision"`
	Invocation *agenttool.Invocation `json:"invocation"`
	Result     *agenttool.Result     `json:"result"`
	Error      *agenttool.Error      `json:"error"`
	Progress   *agenttool.Progress   `json:"progress"`
	Warning    string                `json:"warning"`
}

func (s show) log(r io.Reader) error {
	open := openCalls{calls: map[agenttool.InvocationID]agenttool.Event{}, jobs: map[string]runningJob{}}
	newer := 0
	for entry, err := range persist.Read(r) {
		if errors.Is(err, persist.ErrNewer) {
			newer++
			continue
		}
		if err != nil {
			return exitf(exitFailed, "%v: toolhost log verify says more", err)
		}
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			return exitf(exitFailed, "record %d: %v", entry.Seq, err)
		}
		var data eventData
		_ = json.Unmarshal(e.Data, &data)                // data of another shape shows as nothing
		if e.EventType == agenttool.EventSessionOpened { // the process before this one has ended
			s.end(&open, false)
		}
		open.note(e, data)
		if err := s.entry(entry, e, data); err != nil {
			return exitf(exitFailed, "%v", err)
		}
	}
	s.end(&open, s.live)
	if newer > 0 {
		return exitf(exitFailed, "%d records are not shown: a newer version of toolhost wrote them, in a format that this version does not know", newer)
	}
	return nil
}

// end prints what did not end, and forgets it.
func (s show) end(open *openCalls, live bool) {
	if !s.json && s.call == "" {
		for _, line := range open.lines(live) {
			fmt.Fprintln(s.out, line)
		}
	}
	clear(open.calls)
	clear(open.jobs)
}

func (s show) entry(entry persist.Entry, e agenttool.Event, data eventData) error {
	switch {
	case s.call != "" && s.call != string(e.InvocationID) && s.call != e.Subject:
		return nil
	case s.json:
		return printJSONLines(s.out, []persist.Entry{entry})
	case s.call != "":
		_, err := fmt.Fprintf(s.out, "%6d  %s  %-32s %s\n", entry.Seq, clock(e.Time), visible.Text(string(e.EventType)), visible.Text(detail(data)))
		return err
	}
	switch e.EventType {
	case agenttool.EventResultCreated:
		if data.Invocation != nil && data.Result != nil {
			_, err := fmt.Fprintln(s.out, callLine(*data.Invocation, *data.Result))
			return err
		}
	case agenttool.EventProtectedChanged, agenttool.EventSettingsChanged:
		if data.Warning != "" {
			_, err := fmt.Fprintf(s.out, "%s  !! %s\n", clock(e.Time), visible.Text(cut.Characters(data.Warning, 1000)))
			return err
		}
	case agenttool.EventSessionOpened, agenttool.EventSessionClosed, agenttool.EventJournalGap:
		_, err := fmt.Fprintf(s.out, "%s  -- %s %s\n", clock(e.Time), strings.TrimPrefix(string(e.EventType), "tool.x."), visible.Text(string(e.Data)))
		return err
	}
	return nil
}

// callLine shows one ended call: its time, tool, status, duration and input.
func callLine(inv agenttool.Invocation, res agenttool.Result) string {
	line := fmt.Sprintf("%s  %-12s %-8s %-10s %8s  %s", clock(inv.CreatedAt), visible.Text(cut.Characters(inv.NativeCallID, 24)), visible.Text(strings.TrimPrefix(string(inv.ToolID), "toolhost.")),
		visible.Text(string(res.Status)), took(inv), visible.Text(cut.Characters(string(inv.ModelInput)+inv.ModelInputRef, 100)))
	if res.Error != nil {
		line += "\n                            " + visible.Text(cut.Characters(res.Error.Code+": "+res.Error.Message, 160))
	}
	return line
}

// detail returns the content of an event without its type.
func detail(d eventData) string {
	switch {
	case d.Decision != nil && d.Decision.Reason != nil:
		return fmt.Sprintf("%s: %s", d.Decision.Behavior, d.Decision.Reason.Detail)
	case d.Error != nil:
		return d.Error.Code + ": " + d.Error.Message
	case d.Result != nil:
		return string(d.Result.Status) + "  " + d.Result.UIFacingSummary
	case d.Progress != nil:
		return d.Progress.Message
	case d.Status != "":
		return d.Status
	}
	return d.Phase
}

func took(inv agenttool.Invocation) string {
	start, err1 := time.Parse(time.RFC3339, inv.CreatedAt)
	end, err2 := time.Parse(time.RFC3339, inv.EndedAt)
	if err1 != nil || err2 != nil {
		return "?"
	}
	return end.Sub(start).Round(time.Millisecond).String()
}

func clock(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return visible.Text(stamp)
	}
	return t.Local().Format("15:04:05.000")
}
