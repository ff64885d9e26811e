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
	"toolhost/agenttool/visible"
)

// openCalls are the calls without a result and the jobs whose end is not in the log.
type openCalls struct {
	calls map[agenttool.InvocationID]agenttool.Event
	jobs  map[string]runningJob // by invocation and job
}

// runningJob is a job as its log shows it until it ends.
type runningJob struct {
	id      string
	event   agenttool.Event // the first event of the job, with the time of the job's start if that is known
	command string          // its beginning, or where it is stored
}

// says describes the state of the job and its command.
func (j runningJob) says(how string) string {
	text := fmt.Sprintf("job %s %s", visible.Text(j.id), how)
	if j.command != "" {
		text += ": " + visible.Text(cut.Characters(j.command, 100))
	}
	return text
}

// note follows an event.
func (u *openCalls) note(e agenttool.Event, data eventData) {
	switch e.EventType {
	case agenttool.EventSelected:
		u.calls[e.InvocationID] = e
	case agenttool.EventProgress:
		if data.Progress == nil || data.Progress.TaskID == "" {
			return
		}
		id, key := data.Progress.TaskID, string(e.InvocationID)+data.Progress.TaskID
		if data.Progress.Status != "running" {
			delete(u.jobs, key)
		} else if _, known := u.jobs[key]; !known {
			j := runningJob{id: id, event: e}
			_ = json.Unmarshal(data.Progress.Extra["command"], &j.command) // an older version did not say it
			u.jobs[key] = j
		}
	case agenttool.EventResultCreated:
		delete(u.calls, e.InvocationID)
		if data.Invocation != nil && data.Result != nil {
			u.ended(e, *data.Invocation, *data.Result)
		}
	}
}

// ended notes whether the job of an ended call runs on.
func (u *openCalls) ended(e agenttool.Event, inv agenttool.Invocation, res agenttool.Result) {
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
	_ = json.Unmarshal(inv.ModelInput, &input)
	if inv.ModelInputRef != "" {
		input.Command = "the command in " + inv.ModelInputRef
	}
	e.Time = inv.CreatedAt
	u.jobs[key] = runningJob{id: job.Job, event: e, command: input.Command}
}

// lines lists the jobs and calls that did not end, oldest first. live: the host still runs.
func (u *openCalls) lines(live bool) (lines []string) {
	how := map[bool]string{true: "is running", false: "died with the host"}[live]
	died := map[agenttool.InvocationID]string{}
	for _, j := range slices.SortedFunc(maps.Values(u.jobs), func(a, b runningJob) int { return cmp.Compare(a.event.Time, b.event.Time) }) {
		if _, ok := u.calls[j.event.InvocationID]; ok {
			died[j.event.InvocationID] = ", " + j.says(how)
			continue
		}
		lines = append(lines, u.line(j.event)+j.says(how))
	}
	for _, e := range slices.SortedFunc(maps.Values(u.calls), func(a, b agenttool.Event) int { return cmp.Compare(a.Time, b.Time) }) {
		lines = append(lines, u.line(e)+fmt.Sprintf("did not end%s (%s)", died[e.InvocationID], e.InvocationID))
	}
	return lines
}

func (u *openCalls) line(e agenttool.Event) string {
	return fmt.Sprintf("%s  %-12s %-8s ", clock(e.Time), visible.Text(cut.Characters(e.Subject, 24)), visible.Text(strings.TrimPrefix(string(e.ToolID), "toolhost.")))
}
