package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// unended are the calls without a result and the jobs whose end is not in the log.
type unended struct {
	calls map[agenttool.InvocationID]agenttool.Event
	jobs  map[string]runningJob // by invocation and job
}

// runningJob is a job as its log shows it until it ends.
type runningJob struct {
	id      string
	event   agenttool.Event // that told of it last
	command string          // of a call that has ended
}

// note follows an event.
func (u *unended) note(e agenttool.Event, data eventData) {
	switch e.EventType {
	case agenttool.EventSelected:
		u.calls[e.InvocationID] = e
	case agenttool.EventProgress:
		if data.Progress == nil || data.Progress.TaskID == "" {
			return
		}
		id, key := data.Progress.TaskID, string(e.InvocationID)+data.Progress.TaskID
		if data.Progress.Status == "running" {
			u.jobs[key] = runningJob{id: id, event: e, command: u.jobs[key].command}
		} else {
			delete(u.jobs, key)
		}
	case agenttool.EventResultCreated:
		delete(u.calls, e.InvocationID)
		if data.Invocation != nil && data.Result != nil {
			u.ended(e, *data.Invocation, *data.Result)
		}
	}
}

// ended notes whether the job of an ended call runs on.
func (u *unended) ended(e agenttool.Event, inv agenttool.Invocation, res agenttool.Result) {
	var job struct {
		Job   string             `json:"job"`
		State agenttool.JobState `json:"state"`
	}
	if inv.ToolID != "toolhost.shell" || json.Unmarshal(res.StructuredContent, &job) != nil || job.Job == "" {
		return
	}
	key := string(e.InvocationID) + job.Job
	if job.State == agenttool.JobEnded {
		delete(u.jobs, key)
		return
	}
	var input struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(inv.ModelInput, &input) // a long one is stored elsewhere
	u.jobs[key] = runningJob{id: job.Job, event: e, command: input.Command}
}

// lines say what did not end, in the order in which it began. live: the host still runs.
func (u *unended) lines(live bool) (lines []string) {
	how := map[bool]string{true: "is running", false: "died with the host"}[live]
	died := map[agenttool.InvocationID]string{}
	for _, j := range slices.SortedFunc(maps.Values(u.jobs), func(a, b runningJob) int { return cmp.Compare(a.event.Time, b.event.Time) }) {
		if _, ok := u.calls[j.event.InvocationID]; ok {
			died[j.event.InvocationID] = ", job " + j.id + " " + how
			continue
		}
		lines = append(lines, u.line(j.event)+fmt.Sprintf("job %s %s: %s", printable(j.id), how, printable(cut.Characters(j.command, 100))))
	}
	for _, e := range slices.SortedFunc(maps.Values(u.calls), func(a, b agenttool.Event) int { return cmp.Compare(a.Time, b.Time) }) {
		lines = append(lines, u.line(e)+fmt.Sprintf("did not end%s (%s)", printable(died[e.InvocationID]), e.InvocationID))
	}
	return lines
}

func (u *unended) line(e agenttool.Event) string {
	return fmt.Sprintf("%s  %-12s %-8s ", clock(e.Time), printable(cut.Characters(e.Subject, 24)), printable(strings.TrimPrefix(string(e.ToolID), "toolhost.")))
}
